//! What the command line does: an organization and its first administrator.

use super::PgStore;
use super::error::within;
use crate::domain::ids::{OrganizationId, UserId};
use crate::domain::member::{Member, MemberInput};
use crate::domain::text::Violation;
use crate::members::service::member_change;
use crate::members::store::MemberSession;
use crate::transaction::{Session, StoreError};
use sqlx::query;

/// An organization to be made.
#[derive(Clone, Debug)]
pub struct NewOrganization {
    /// Its id.
    pub id: OrganizationId,
    /// One line, 1 to 200 characters.
    pub name: String,
    /// An IANA name, such as `Asia/Tokyo`.
    pub time_zone: String,
    /// The first administrator.
    pub admin_id: UserId,
    /// The first administrator's name and rights.
    pub admin: MemberInput,
}

/// Why no organization was made.
#[derive(Debug, thiserror::Error)]
pub enum OrganizationError {
    /// The name breaks these rules.
    #[error("{}", .0.iter().map(|v| format!("{} {}", v.pointer.trim_start_matches('/'), v.detail)).collect::<Vec<_>>().join("; "))]
    Invalid(Vec<Violation>),
    /// PostgreSQL doesn't know the zone.
    #[error("unknown time zone {0:?}: use an IANA name, such as Asia/Tokyo or Europe/Berlin")]
    UnknownTimeZone(String),
    /// The id is taken.
    #[error("an organization {0} exists already")]
    Exists(OrganizationId),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes an organization with its first administrator, whose history begins with the command line as actor.
///
/// # Errors
/// [`OrganizationError`]; nothing was saved.
pub async fn create_organization(store: &PgStore, new: &NewOrganization) -> Result<(), OrganizationError> {
    new.check()?;
    let mut session = store.begin().await?;
    match create_in(&mut session, new).await {
        Ok(()) => Ok(session.commit().await?),
        Err(error) => {
            session.rollback().await;
            Err(error)
        }
    }
}

impl NewOrganization {
    fn check(&self) -> Result<(), OrganizationError> {
        let mut found = Vec::new();
        for (field, name) in [("name", &self.name), ("admin-name", &self.admin.display_name)] {
            // The same rules as for a member's name.
            let input = MemberInput { display_name: name.clone(), ..self.admin.clone() };
            if let Err(violations) = input.check() {
                found.extend(violations.into_iter().map(|v| Violation::new(field, &v.code, v.detail)));
            }
        }
        if found.is_empty() { Ok(()) } else { Err(OrganizationError::Invalid(found)) }
    }
}

async fn create_in(session: &mut super::PgSession, new: &NewOrganization) -> Result<(), OrganizationError> {
    let known = within(session.answer_limit, query!(
        // Names with a slash, and UTC: PostgreSQL also knows abbreviations and signs that mean the opposite of what
        // people read.
        r#"SELECT EXISTS (SELECT FROM pg_timezone_names
                          WHERE name = $1 AND (name = 'UTC' OR name LIKE '%/%') AND name NOT LIKE 'posix/%') AS "known!""#,
        new.time_zone,
    ).fetch_one(session.connection()?)).await;
    if !session.note(known)?.known {
        return Err(OrganizationError::UnknownTimeZone(new.time_zone.clone()));
    }
    let made = within(
        session.answer_limit,
        query!(
            "INSERT INTO organization (id, name, time_zone) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            new.id.0,
            new.name,
            new.time_zone,
        )
        .execute(session.connection()?),
    )
    .await;
    if session.note(made)?.rows_affected() == 0 {
        return Err(OrganizationError::Exists(new.id));
    }
    let head = session.lock_chain(new.id, &new.admin_id.to_string()).await?;
    let admin = Member {
        organization_id: new.id,
        user_id: new.admin_id,
        display_name: new.admin.display_name.clone(),
        is_active: new.admin.is_active,
        can_approve: new.admin.can_approve,
        is_admin: new.admin.is_admin,
        version: 1,
        created_at: head.at,
    };
    session.insert_member(&member_change(None, None, admin, head), None).await?;
    Ok(())
}
