//! The page's script: the files in `page/`, without the comments and margins that are for who changes them.

/// A part of the script: its file's name, and its text.
macro_rules! part {
    ($name:literal) => {{
        const FILE: &str = include_str!(concat!("parts/", $name, ".js"));
        const TEXT: [u8; plain_length(FILE)] = plain(FILE);
        match str::from_utf8(&TEXT) {
            Ok(text) => ($name, text),
            Err(_) => panic!("whole lines of a text are no text"),
        }
    }};
}

/// The page's script, in parts by name.
pub const SCRIPT: [(&str, &str); 19] = [
    part!("kinds"),
    part!("canvas"),
    part!("run"),
    part!("rows"),
    part!("pixels"),
    part!("causes"),
    part!("words"),
    part!("flight"),
    part!("letters"),
    part!("frame"),
    part!("chain"),
    part!("map"),
    part!("view"),
    part!("choice"),
    part!("search"),
    part!("interval"),
    part!("link"),
    part!("sheet"),
    part!("user"),
];

/// Returns the length of [`plain`].
const fn plain_length(text: &str) -> usize {
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        let (from, until) = line(text.as_bytes(), at);
        length += if is_comment(text.as_bytes(), from, until) { 0 } else { until - from };
        at = until;
    }
    length
}

/// Returns a text without margins, and without the lines that are a comment.
const fn plain<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let (mut plain, mut length, mut at) = ([0; LENGTH], 0, 0);
    while at < text.len() {
        let (mut from, until) = line(text.as_bytes(), at);
        let is_code = !is_comment(text.as_bytes(), from, until);
        while is_code && from < until {
            plain[length] = text.as_bytes()[from];
            (from, length) = (from + 1, length + 1);
        }
        at = until;
    }
    plain
}

/// Returns the places of a line's text, which begins behind the margin, and of the next line.
const fn line(text: &[u8], mut from: usize) -> (usize, usize) {
    while from < text.len() && text[from] == b' ' {
        from += 1;
    }
    let mut until = from;
    while until < text.len() && text[until] != b'\n' {
        until += 1;
    }
    (from, if until < text.len() { until + 1 } else { until })
}

const fn is_comment(text: &[u8], from: usize, until: usize) -> bool {
    from + 2 < until && text[from] == b'/' && text[from + 1] == b'/' && text[from + 2] == b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_margins_are_left_out() {
        const FILE: &str = "// A comment.\n  one(\"// none\");\n    // another\n\ntwo;//x\n  //\nlast";
        const TEXT: [u8; plain_length(FILE)] = plain(FILE);
        assert_eq!(str::from_utf8(&TEXT), Ok("one(\"// none\");\n\ntwo;//x\n//\nlast"));
        for (name, part) in SCRIPT {
            assert!(!part.is_empty() && !part.contains("\n// ") && !part.contains('\0'), "{name}");
        }
    }
}
