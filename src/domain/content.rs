//! What is judged: title, description and money, and the hash that names exactly this content.

use super::history::Hash;
use super::text::{self, violation};
use sha2::{Digest, Sha256};
use validator::{Validate, ValidationError};

/// The largest amount: 2^53 - 1, the last integer that JavaScript reads exactly.
pub const AMOUNT_MAX: i64 = 9_007_199_254_740_991;

/// The content of a request. Values as they came in; [`Content::check`] says whether they are acceptable.
#[derive(Clone, Debug, PartialEq, Eq, Validate)]
#[validate(schema(function = "amount_with_currency"))]
pub struct Content {
    /// One line, 1 to 200 characters.
    #[validate(length(min = 1, max = "text::LINE_MAX", message = "must have 1 to 200 characters"))]
    #[validate(custom(function = "text::line"))]
    pub title: String,
    /// Paragraphs, up to 10,000 characters.
    #[validate(length(max = "text::DESCRIPTION_MAX", message = "must have at most 10,000 characters"))]
    #[validate(custom(function = "text::paragraphs"))]
    pub description: String,
    /// In the currency's minor unit (yen, cents).
    #[validate(range(
        min = 0,
        max = "AMOUNT_MAX",
        message = "must be from 0 to 9007199254740991, in the currency's minor unit"
    ))]
    pub amount: Option<i64>,
    /// An active ISO 4217 code in capitals. Both amount and currency, or neither.
    #[validate(custom(function = "currency_code"))]
    pub currency: Option<String>,
}

fn amount_with_currency(content: &Content) -> Result<(), ValidationError> {
    if content.amount.is_some() == content.currency.is_some() {
        return Ok(());
    }
    Err(violation("amount_and_currency", "amount and currency belong together: give both or neither"))
}

pub(super) fn currency_code(code: &str) -> Result<(), ValidationError> {
    let capitals = code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase());
    let active = iso_currency::Currency::from_code(code).is_some_and(|known| known.is_superseded().is_none());
    if capitals && active {
        return Ok(());
    }
    Err(violation("currency_unknown", "must be an active ISO 4217 code in capitals, such as JPY"))
}

impl Content {
    /// Checks every rule of the content at once.
    ///
    /// # Errors
    /// All violations, in a stable order.
    pub fn check(&self) -> Result<(), Vec<text::Violation>> {
        self.validate().map_err(|errors| {
            let mut found = text::violations(&errors);
            // The rule over two fields has no field of its own: point at the one that is missing.
            for violation in &mut found {
                if violation.pointer == "/__all__" {
                    let missing = if self.amount.is_some() { "/currency" } else { "/amount" };
                    missing.clone_into(&mut violation.pointer);
                }
            }
            found
        })
    }

    /// SHA-256 over the canonical form: RFC 8785 (JSON with sorted keys), which anybody can compute again.
    #[must_use]
    pub fn hash(&self) -> Hash {
        let canonical = serde_json::json!({
            "amount": self.amount,
            "currency": self.currency,
            "description": self.description,
            "title": self.title,
        });
        Hash(Sha256::digest(super::history::canonical(&canonical)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> Content {
        Content {
            title: "出張費".into(),
            description: "大阪".into(),
            amount: Some(12_000),
            currency: Some("JPY".into()),
        }
    }

    #[test]
    fn the_hash_is_that_of_the_canonical_json() {
        let by_hand = r#"{"amount":12000,"currency":"JPY","description":"大阪","title":"出張費"}"#;
        assert_eq!(content().hash(), Hash(Sha256::digest(by_hand).into()));
    }

    #[test]
    fn every_rule_has_its_code_and_pointer() {
        let broken = |change: fn(&mut Content)| {
            let mut broken = content();
            change(&mut broken);
            let found = broken.check().expect_err("must be refused");
            found.into_iter().map(|v| format!("{} {}", v.pointer, v.code)).collect::<Vec<_>>()
        };
        assert!(content().check().is_ok());
        assert_eq!(broken(|c| c.title = String::new()), ["/title length"]);
        assert_eq!(broken(|c| c.title = "あ".repeat(201)), ["/title length"]);
        assert_eq!(broken(|c| c.title = "\u{200b}".into()), ["/title blank"]);
        assert_eq!(broken(|c| c.title = "a\u{0}".into()), ["/title control_character"]);
        assert_eq!(broken(|c| c.description = "x".repeat(10_001)), ["/description length"]);
        assert_eq!(broken(|c| c.amount = Some(-1)), ["/amount range"]);
        assert_eq!(broken(|c| c.amount = Some(AMOUNT_MAX + 1)), ["/amount range"]);
        assert_eq!(broken(|c| c.amount = None), ["/amount amount_and_currency"]);
        assert_eq!(broken(|c| c.currency = None), ["/currency amount_and_currency"]);
        for unknown in ["jpy", "JP", "ZZZ", "DEM", "JPYX", "ＪＰＹ"] {
            let mut broken = content();
            broken.currency = Some(unknown.into());
            assert_eq!(broken.check().expect_err("must be refused")[0].code, "currency_unknown", "{unknown}");
        }
    }
}
