//! A request's body that nobody reads to its end must not keep its connection.
//!
//! When a handler drops a chunked body, actix goes on reading and throwing away for as long as the client sends:
//! a refused call could hold its connection for ever, one chunk a minute. So the body is kept until the answer is
//! out. actix then sees that it is unread, says `Connection: close`, and ends the connection within its time.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use actix_web::{Error, HttpMessage};
use futures_util::Stream;
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A request's body, shared by its handler and its answer.
#[derive(Clone)]
pub(super) struct Unread(Rc<RefCell<Payload>>);

impl Unread {
    /// Shares the body of this request, where it has one.
    pub(super) fn share(request: &mut ServiceRequest) -> Option<Self> {
        let payload = request.take_payload();
        if matches!(payload, Payload::None) {
            return None;
        }
        let shared = Self(Rc::new(RefCell::new(payload)));
        request.set_payload(Payload::Stream { payload: Box::pin(shared.clone()) });
        Some(shared)
    }

    /// Keeps the request's body until `answer` is out.
    pub(super) fn until(self, answer: BoxBody) -> BoxBody {
        BoxBody::new(Answer { answer, _unread: self })
    }
}

impl Stream for Unread {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_next(context)
    }
}

struct Answer {
    answer: BoxBody,
    _unread: Unread,
}

impl MessageBody for Answer {
    type Error = Error;

    fn size(&self) -> BodySize {
        self.answer.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Pin::new(&mut self.answer).poll_next(context).map_err(Error::from)
    }
}
