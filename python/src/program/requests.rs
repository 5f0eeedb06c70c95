//! The requests of a processor that its program has not waited for yet.

use std::collections::HashMap;

use loggp::Proc;
use loggp::Request;

use crate::program::answer::Answer;
use crate::program::session::Line;
use crate::value::Value;

/// The requests of one processor, by number.
#[derive(Default)]
pub struct Requests {
    posted: HashMap<u32, Posted>,
    /// The lines of the program that called for them.
    lines: HashMap<u32, Line>,
    next: u32,
}

/// A request, by the form of its result.
pub enum Posted {
    Send(Request<()>),
    /// Of messages with a tag; true if the sender is part of the result.
    Receive(Request<(usize, Value)>, bool),
    /// Of messages with any tag; true if the sender is part of the result.
    ReceiveAny(Request<(usize, (u16, Value))>, bool),
}

/// The refusal of a request that has no result any more.
const DONE: &str = "the request has been waited for; each is waited for once";

impl Posted {
    fn wait(self, p: &mut Proc) -> Answer {
        match self {
            Posted::Send(request) => {
                p.wait(request);
                Answer::None
            }
            Posted::Receive(request, names_sender) => Answer::message(p.wait(request), names_sender),
            Posted::ReceiveAny(request, names_sender) => Answer::tagged(p.wait(request), names_sender),
        }
    }

    fn test(self, p: &mut Proc) -> Result<Answer, Posted> {
        match self {
            Posted::Send(request) => p.test(request).map(|()| Answer::None).map_err(Posted::Send),
            Posted::Receive(request, names_sender) => match p.test(request) {
                Ok(got) => Ok(Answer::message(got, names_sender)),
                Err(request) => Err(Posted::Receive(request, names_sender)),
            },
            Posted::ReceiveAny(request, names_sender) => match p.test(request) {
                Ok(got) => Ok(Answer::tagged(got, names_sender)),
                Err(request) => Err(Posted::ReceiveAny(request, names_sender)),
            },
        }
    }
}

impl Requests {
    /// Keeps a request, and returns its number.
    pub fn keep(&mut self, posted: Posted, line: Option<Line>) -> Answer {
        let number = self.next;
        self.next += 1;
        self.lines.extend(line.map(|line| (number, line)));
        self.posted.insert(number, posted);
        Answer::Posted(number)
    }

    /// Returns the line of the first that was not waited for.
    pub fn first_line(&self) -> Option<Line> {
        self.lines.get(self.posted.keys().min()?).copied()
    }

    pub fn wait(&mut self, p: &mut Proc, number: u32) -> Answer {
        self.lines.remove(&number);
        match self.posted.remove(&number) {
            Some(posted) => posted.wait(p),
            None => Answer::Refused(DONE.into()),
        }
    }

    pub fn wait_all(&mut self, p: &mut Proc, numbers: &[u32]) -> Answer {
        let mut answers = Vec::with_capacity(numbers.len());
        for number in numbers {
            match self.wait(p, *number) {
                refused @ Answer::Refused(_) => return refused,
                answer => answers.push(answer),
            }
        }
        Answer::Many(answers)
    }

    pub fn test(&mut self, p: &mut Proc, number: u32) -> Answer {
        let Some(posted) = self.posted.remove(&number) else { return Answer::Refused(DONE.into()) };
        match posted.test(p) {
            Ok(answer) => {
                self.lines.remove(&number);
                Answer::Tested(Some(Box::new(answer)))
            }
            Err(posted) => {
                self.posted.insert(number, posted);
                Answer::Tested(None)
            }
        }
    }

    /// Waits for the first of several requests, which `list` has for the program.
    pub fn wait_any(&mut self, p: &mut Proc, numbers: &[u32], list: Value) -> Answer {
        if numbers.iter().any(|number| !self.posted.contains_key(number)) {
            return Answer::Refused(DONE.into());
        }
        let mut twice = numbers.to_vec();
        twice.sort_unstable();
        twice.dedup();
        if twice.len() < numbers.len() {
            return Answer::Refused("a request is in the list twice; give each once".into());
        }
        let form = |number: &u32| self.posted.get(number).map(std::mem::discriminant);
        if numbers.iter().any(|number| form(number) != form(&numbers[0])) {
            let why = "it waits for any of requests of several forms; give those of sends, of receives with a tag, or of \
                       receives with any tag";
            return Answer::Refused(why.into());
        }
        let mut all = Waiting::default();
        for posted in numbers.iter().filter_map(|number| self.posted.remove(number)) {
            match posted {
                Posted::Send(request) => all.sends.push(request),
                Posted::Receive(request, names_sender) => {
                    all.receives.push(request);
                    all.names_sender.push(names_sender);
                }
                Posted::ReceiveAny(request, names_sender) => {
                    all.any.push(request);
                    all.names_sender.push(names_sender);
                }
            }
        }
        let (place, answer) = all.wait(p);
        self.lines.remove(&numbers[place]);
        // The others are waited for later.
        let others = numbers.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, number)| *number);
        self.posted.extend(others.zip(all.into_posted()));
        Answer::First(place, Box::new(answer), list)
    }
}

/// Requests of which one is waited for. All have the same form, so that only one list has any.
#[derive(Default)]
struct Waiting {
    sends: Vec<Request<()>>,
    receives: Vec<Request<(usize, Value)>>,
    any: Vec<Request<(usize, (u16, Value))>>,
    /// For each receive, whether the sender is part of the result.
    names_sender: Vec<bool>,
}

impl Waiting {
    /// Waits for the first, and removes it. Returns its place and its result.
    fn wait(&mut self, p: &mut Proc) -> (usize, Answer) {
        if !self.sends.is_empty() {
            return (p.wait_any(&mut self.sends).0, Answer::None);
        } else if !self.receives.is_empty() {
            let (place, got) = p.wait_any(&mut self.receives);
            return (place, Answer::message(got, self.names_sender.remove(place)));
        }
        let (place, got) = p.wait_any(&mut self.any);
        (place, Answer::tagged(got, self.names_sender.remove(place)))
    }

    fn into_posted(self) -> impl Iterator<Item = Posted> {
        let sends = self.sends.into_iter().map(Posted::Send);
        let receives = self.receives.into_iter().zip(self.names_sender.clone());
        let any = self.any.into_iter().zip(self.names_sender);
        let receives = receives.map(|(request, names_sender)| Posted::Receive(request, names_sender));
        let any = any.map(|(request, names_sender)| Posted::ReceiveAny(request, names_sender));
        sends.chain(receives).chain(any)
    }
}
