//! Mail to people: their wishes about it, and the post that sends it.
//!
//! [`preferences`] is what a person does about his own mail, signed in or by a link out of one. [`post`] is a consumer of
//! the relay's: it turns events into rows of `mail_message`, one for each mail, and sends what is due. What a mail says
//! is looked up when it is sent, under the rights that its receiver has then ([`letter`]); how it is written stands in
//! [`compose`], how it is handed to a mail server in [`smtp`].

pub mod compose;
pub mod letter;
pub mod post;
pub mod preferences;
pub mod smtp;
pub mod store;
