//! A test that only says where the library's tests are.

fn main() {
    println!("tests of the library's public API: cargo test -p loggp-command --test library");
}
