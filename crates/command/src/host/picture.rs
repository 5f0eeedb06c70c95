//! The files of pictures. What draws a picture writes SVG; a PNG or a PDF is made of that, if the command is built with the
//! feature `pictures`.

use std::io::Write;
use std::path::Path;

use super::draft::Draft;
use super::interrupt::KeptRows;
use crate::annex::has_own_programs;
use crate::ask::arguments::binary_name;
use crate::error::CliError;

/// The form of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureForm {
    Svg,
    /// Needs the feature `pictures`.
    Png,
    /// Needs the feature `pictures`.
    Pdf,
}

/// Endings of the files of pictures.
pub const PICTURE_EXTENSION_HINT: &str = ".svg, .png or .pdf for a picture";

/// A file for a picture, which replaces an old one only when it is complete.
pub struct PictureFile {
    form: PictureForm,
    draft: Draft,
    /// The name of the file, without its ending.
    pub name: String,
}

impl PictureForm {
    /// Returns the form of files with this ending, if they are pictures.
    pub fn from_extension(extension: &str) -> Option<PictureForm> {
        match extension {
            "svg" => Some(PictureForm::Svg),
            "png" => Some(PictureForm::Png),
            "pdf" => Some(PictureForm::Pdf),
            _ => None,
        }
    }

    /// Returns a picture that is drawn as SVG in this form.
    fn encode(self, svg: String) -> Result<Vec<u8>, CliError> {
        match self {
            PictureForm::Svg => Ok(svg.into_bytes()),
            #[cfg(feature = "pictures")]
            form => convert::encode(form, &svg).map_err(CliError::Run),
            #[cfg(not(feature = "pictures"))]
            PictureForm::Png | PictureForm::Pdf => unreachable!("no such file is created"),
        }
    }
}

impl PictureFile {
    /// Creates a file for a picture of this form. Refuses a path that cannot be written, and a form that this command
    /// cannot write.
    pub fn create(path: &Path, form: PictureForm, kind: &'static str) -> Result<PictureFile, CliError> {
        if cfg!(not(feature = "pictures")) && form != PictureForm::Svg {
            let with_them = match has_own_programs() {
                true => "build your package with them: `cargo run --features loggp-command/pictures -- ...`",
                false => "install it with `cargo install loggp-cli --features pictures`",
            };
            return Err(CliError::Request(format!(
                "{}: this {} was built without PNG and PDF; {with_them}, or write {}",
                path.display(),
                binary_name(),
                path.with_extension("svg").display()
            )));
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(PictureFile { form, draft: Draft::create(path, kind)?, name })
    }

    /// Keeps a picture of so many rows, for an interruption.
    pub fn keep(&self, svg: &str, rows: usize) -> Result<(), CliError> {
        let text = self.form.encode(svg.into())?;
        self.draft.keep(|kept| *kept = KeptRows { text, rows });
        Ok(())
    }

    /// Writes a picture that is drawn as SVG.
    pub fn write(self, svg: String) -> Result<(), CliError> {
        let bytes = self.form.encode(svg)?;
        self.draft.write(|mut file| file.write_all(&bytes))
    }
}

#[cfg(feature = "pictures")]
mod convert {
    use std::sync::Arc;

    use resvg::tiny_skia::{Pixmap, Transform};
    use svg2pdf::usvg::{Options, Tree, fontdb};
    use svg2pdf::{ConversionOptions, PageOptions};

    use super::PictureForm;

    /// Pixels of a PNG for each of the picture: enough for a slide.
    const SCALE: f32 = 3.0;

    /// The fonts for texts, the best first. Pictures leave room for the wider of the first two.
    const FONTS: [&str; 6] = ["DejaVu Sans", "Liberation Sans", "Arial", "Helvetica", "Noto Sans", "Verdana"];

    /// Returns an SVG in this form, or why it cannot be converted.
    pub(super) fn encode(form: PictureForm, svg: &str) -> Result<Vec<u8>, String> {
        let mut fonts = fontdb::Database::new();
        fonts.load_system_fonts();
        choose_font(&mut fonts)?;
        let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
        let tree = Tree::from_str(svg, &options).map_err(|why| why.to_string())?;
        if form == PictureForm::Pdf {
            let pdf = svg2pdf::to_pdf(&tree, ConversionOptions::default(), PageOptions::default());
            return pdf.map_err(|why| why.to_string());
        }
        let size = tree.size().to_int_size().scale_by(SCALE);
        let size = size.ok_or("the picture is too large for a PNG; write a PDF or an SVG")?;
        let pixels = Pixmap::new(size.width(), size.height());
        let mut pixels = pixels.ok_or("the picture is too large for a PNG; write a PDF or an SVG")?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|why| why.to_string())
    }

    /// Makes one of the computer's fonts that of all texts.
    fn choose_font(fonts: &mut fontdb::Database) -> Result<(), String> {
        let families = || fonts.faces().flat_map(|face| &face.families).map(|(name, _)| &**name);
        let font = FONTS.into_iter().find(|font| families().any(|family| family == *font));
        let font = font.or_else(|| families().next()).map(String::from);
        let none = "there is no font on this computer to write a picture's text with; install one, such as DejaVu Sans, or \
                    write an SVG";
        fonts.set_sans_serif_family(font.ok_or(none)?);
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// A text leaves dark pixels in a PNG, and a font in a PDF.
        #[test]
        fn text_appears() {
            let draw = |text: &str| {
                format!(
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\" height=\"20\"><rect width=\"90\" height=\"20\" \
                     fill=\"white\"/><text x=\"5\" y=\"15\" font-family=\"sans-serif\" font-size=\"13\">{text}</text></svg>"
                )
            };
            let png = |text| Pixmap::decode_png(&encode(PictureForm::Png, &draw(text)).unwrap()).unwrap();
            let is_dark = |pixels: &Pixmap| pixels.pixels().iter().any(|pixel| pixel.red() < 64);
            assert!(is_dark(&png("loggp")) && !is_dark(&png("")));
            assert_eq!((png("loggp").width(), png("loggp").height()), (270, 60));
            let pdf = encode(PictureForm::Pdf, &draw("loggp")).unwrap();
            assert!(pdf.starts_with(b"%PDF-") && pdf.windows(9).any(|part| part == b"/FontFile"));
        }

        #[test]
        fn a_computer_without_fonts_gets_a_sentence() {
            let refusal = choose_font(&mut fontdb::Database::new()).unwrap_err();
            assert!(refusal.contains("install one, such as DejaVu Sans"));
        }
    }
}
