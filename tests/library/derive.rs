//! `#[derive(Payload)]`: the bytes that derived types count for, and that their values arrive unchanged.

use std::fmt::Debug;

use loggp::{Machine, Params, Payload, Tag, US, Work};

#[derive(Clone, Debug, PartialEq, Payload)]
struct Named {
    index: u32,
    values: Vec<f64>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Payload)]
struct Tuple(u8, [u16; 3], Option<u64>);

#[derive(Clone, Debug, PartialEq, Payload)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Payload)]
struct Pair<A, B: Copy, const N: usize>
where
    A: Clone,
{
    a: [A; N],
    b: (B, B),
}

#[derive(Clone, Debug, PartialEq, Payload)]
enum Shape<T> {
    Nothing,
    Point(T, T),
    Path { closed: bool, points: Vec<T> },
    r#Loop(Unit),
}

#[derive(Payload)]
enum Never {}

/// Derived code must not depend on the program's own names.
mod names {
    pub(super) struct Option;
    pub(super) struct Some;
    pub(super) struct None;
    #[derive(Clone, Debug, PartialEq, loggp::Payload)]
    pub(super) struct Hygienic {
        pub size: u8,
        pub field_0: u8,
        pub r#type: u16,
    }
    #[derive(Clone, Debug, PartialEq, loggp::Payload)]
    pub(super) enum Variants {
        Some { field_1: u8, field_0: u16 },
        None,
    }
}

/// Sends a value from one processor to another, and checks the value and the time of its bytes.
fn check_sent<T: Payload + Sync + Clone + PartialEq + Debug>(value: T, bytes: usize) {
    assert_eq!(value.bytes(), bytes, "{value:?}");
    let params = Params::builder(2).word(1).L(10 * US).G(US).build().unwrap();
    let run = Machine::new(params).work(Work::Charged).run(|p| match p.id() {
        0 => {
            p.send(1, Tag::new(0), value.clone());
            None
        }
        _ => Some(p.recv(Tag::<T>::new(0).from(0))),
    });
    let mut run = run.unwrap();
    assert_eq!(run.results.pop().unwrap(), Some(value));
    assert_eq!(run.time, 10 * US + (bytes.max(1) as i64 - 1) * US);
}

#[test]
fn structures_are_sent_unchanged() {
    check_sent(Named { index: 1, values: vec![1.0, 2.0], text: "abc".into() }, 4 + 16 + 3);
    check_sent(Tuple(1, [2, 3, 4], Some(5)), 1 + 6 + 8);
    check_sent(Tuple(1, [2, 3, 4], None), 1 + 6);
    check_sent(Unit, 0);
    check_sent(Pair { a: [1_u16, 2, 3], b: (1.0_f32, 2.0) }, 6 + 8);
    check_sent(vec![Pair { a: [Unit], b: ('a', 'b') }; 5], 5 * 8);
}

#[test]
fn enumerations_are_sent_unchanged() {
    check_sent(Shape::<f64>::Nothing, 0);
    check_sent(Shape::Point(1_u64, 2), 16);
    check_sent(Shape::Path { closed: true, points: vec![1_u16, 2, 3] }, 7);
    check_sent(Shape::<u8>::Loop(Unit), 0);
    check_sent(vec![Shape::Nothing, Shape::Point(1_u8, 2)], 2);
}

#[test]
fn derived_code_is_hygienic() {
    check_sent(names::Hygienic { size: 1, field_0: 2, r#type: 3 }, 4);
    check_sent(names::Variants::Some { field_1: 1, field_0: 2 }, 3);
    check_sent(names::Variants::None, 0);
    let _ = (names::Option, names::Some, names::None);
}

#[test]
fn sizes_are_known_where_all_values_count_the_same() {
    assert_eq!(Unit::SIZE, Some(0));
    assert_eq!(<Pair<u8, u64, 4>>::SIZE, Some(20));
    assert_eq!(<Pair<Pair<u8, u8, 1>, u64, 4>>::SIZE, Some(28));
    assert_eq!((Named::SIZE, Tuple::SIZE, <Shape<u8>>::SIZE, Never::SIZE), (None, None, None, None));
}
