//! Sorted lists, all in one pool: an empty list takes eight bytes.

use loggp_model::time::Time;

/// An item of a list. The order is by time, and then by operation.
pub(super) trait Sorted {
    fn key(&self) -> (Time, u32);
}

/// An operation with the time since which it is ready.
impl Sorted for (Time, u32) {
    #[inline]
    fn key(&self) -> (Time, u32) {
        *self
    }
}

/// The items of all lists, and the slots that are free.
#[derive(Debug)]
pub(super) struct ListPool<T> {
    nodes: Vec<ListNode<T>>,
    /// The first free slot, or [`NONE`].
    free: u32,
}

/// An item and its neighbours in its list.
#[derive(Debug)]
struct ListNode<T> {
    item: T,
    before: u32,
    /// The node after this one, or for a free slot the next free slot.
    after: u32,
}

/// The first and the last slot of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u32,
    tail: u32,
}

/// Stands for no slot.
const NONE: u32 = u32::MAX;

impl Default for List {
    fn default() -> List {
        List { head: NONE, tail: NONE }
    }
}

impl List {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

impl<T: Sorted + Copy> ListPool<T> {
    /// Size of an item in bytes.
    pub(super) const BYTES: u64 = size_of::<ListNode<T>>() as u64;

    /// Creates an empty pool with room for this many items.
    pub(super) fn with_capacity(items: usize) -> ListPool<T> {
        ListPool { nodes: Vec::with_capacity(items), free: NONE }
    }

    /// Inserts an item in order. Mostly it comes last.
    #[inline]
    pub(super) fn insert(&mut self, list: &mut List, item: T) {
        if list.is_empty() {
            let slot = self.put(ListNode { item, before: NONE, after: NONE });
            *list = List { head: slot, tail: slot };
            return;
        }
        let mut before = list.tail;
        while before != NONE && self.nodes[before as usize].item.key() > item.key() {
            before = self.nodes[before as usize].before;
        }
        let after = match before {
            NONE => list.head,
            before => self.nodes[before as usize].after,
        };
        let slot = self.put(ListNode { item, before, after });
        self.link(list, before, slot);
        self.link(list, slot, after);
    }

    /// Puts a node into a free slot, and returns that.
    #[inline]
    fn put(&mut self, node: ListNode<T>) -> u32 {
        match self.nodes.get_mut(self.free as usize) {
            Some(free) => std::mem::replace(&mut self.free, std::mem::replace(free, node).after),
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Removes and returns the item at a slot of a list.
    #[inline]
    pub(super) fn remove(&mut self, list: &mut List, slot: u32) -> T {
        let node = &mut self.nodes[slot as usize];
        let ListNode { item, before, after } = *node;
        node.after = std::mem::replace(&mut self.free, slot);
        if (before, after) == (NONE, NONE) {
            *list = List::default();
        } else {
            self.link(list, before, after);
        }
        item
    }

    /// Makes two slots neighbours, of which one may be an end of the list.
    #[inline]
    fn link(&mut self, list: &mut List, before: u32, after: u32) {
        *if before == NONE { &mut list.head } else { &mut self.nodes[before as usize].after } = after;
        *if after == NONE { &mut list.tail } else { &mut self.nodes[after as usize].before } = before;
    }

    /// Returns the first item of a list.
    #[inline]
    pub(super) fn first(&self, list: &List) -> Option<&T> {
        self.nodes.get(list.head as usize).map(|node| &node.item)
    }

    /// Removes and returns the first item of a list.
    #[inline]
    pub(super) fn take_first(&mut self, list: &mut List) -> Option<T> {
        if list.is_empty() { None } else { Some(self.remove(list, list.head)) }
    }

    /// Returns the items of a list with their slots, the last first.
    #[inline]
    pub(super) fn iter_back(&self, list: &List) -> impl Iterator<Item = (u32, &T)> {
        let mut slot = list.tail;
        std::iter::from_fn(move || {
            let node = self.nodes.get(slot as usize)?;
            Some((std::mem::replace(&mut slot, node.before), &node.item))
        })
    }
}
