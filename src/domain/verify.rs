//! Checks stored chains: does each row follow from the one before it, and does what stands now agree with the last?
//!
//! What is checked here comes from a database that somebody may have bent, so every value is taken as its column
//! holds it and nothing is believed for having a type of ours.

use super::content::Content;
use super::history::{HASH_FORMAT, Hash, Kind, RequestColumns, SubjectColumns};
use super::ids::{OrganizationId, RequestId, UserId, Version};
use super::request::{Action, Status, names, transition};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

names! {
    /// Why a row is broken. Stable.
    Why {
        /// A row is missing: before a later one, at the end, or all of them.
        EntryMissing = "entry_missing",
        /// The row was written in a form that this program does not know.
        HashFormat = "hash_format",
        /// The row's hash does not follow from the row before it and the row's own columns.
        EntryHash = "entry_hash",
        /// The row's status change does not begin where the last one ended, or is none that there is.
        Transition = "transition",
        /// The content of this version is gone.
        ContentMissing = "content_missing",
        /// The content of this version is not the one that its hash names, or not the one that was judged.
        ContentHash = "content_hash",
        /// There is a content where no version wrote one.
        ContentUnexpected = "content_unexpected",
        /// There is a history, but no request.
        RequestMissing = "request_missing",
        /// The request stands at another version than its last row.
        RequestVersion = "request_version",
        /// The request's status is not that of its last row.
        RequestStatus = "request_status",
        /// The request's content or its hash is not that of its last row.
        RequestContent = "request_content",
        /// The request's chain hash is not that of its last row.
        RequestChainHash = "request_chain_hash",
        /// The request's applicant or beginning is not that of its first row.
        RequestOrigin = "request_origin",
        /// One of the request's times or its decision's reason is not that of the rows that set it.
        RequestDecision = "request_decision",
        /// The request's last action, actor, or actor's name is not that of its last row.
        RequestLast = "request_last",
        /// A subject has rows, but no head.
        HeadMissing = "head_missing",
        /// A subject's head does not say what its last row does.
        HeadDiffers = "head_differs",
        /// A row that the checkpoint names is gone.
        CheckpointMissing = "checkpoint_missing",
        /// A row that the checkpoint names has another hash: it, or one before it, was written anew.
        CheckpointDiffers = "checkpoint_differs",
    }
}

/// The first broken row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// `request`, or the kind of a row of the other history, as it is stored.
    pub kind: String,
    /// Which request or subject.
    pub subject: String,
    /// Which of its rows.
    pub version: Version,
    /// What is wrong.
    pub why: Why,
}

/// A content as it is stored, with the hash beside it.
#[derive(Clone, Debug)]
pub struct StoredContent {
    /// The columns.
    pub content: Content,
    /// The hash beside them.
    pub content_hash: Vec<u8>,
}

/// The columns of a request that its history must explain.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of its name; times as text in their canonical form")]
pub struct StoredRequest {
    pub applicant_id: UserId,
    pub status: String,
    pub content_version: Version,
    pub content: StoredContent,
    pub decision_reason: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    pub submitted_at: Option<String>,
    pub decided_at: Option<String>,
    pub last_action: String,
    pub last_actor_id: UserId,
    pub last_actor_name: String,
    pub chain_hash: Vec<u8>,
}

/// A row of `approval_history` with what stands beside it.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of its name; times as text in their canonical form")]
pub struct RequestRow {
    pub request_id: RequestId,
    pub version: Version,
    pub actor_id: UserId,
    pub actor_name: String,
    pub action: String,
    pub from_status: Option<String>,
    pub to_status: String,
    pub reason: Option<String>,
    pub content_hash: Vec<u8>,
    pub occurred_at: String,
    pub hash_format: i16,
    pub entry_hash: Vec<u8>,
    /// The content that this version wrote.
    pub content: Option<StoredContent>,
    /// The request's version. `None`: there is no request.
    pub request_version: Option<Version>,
    /// The request, on its last row at the latest.
    pub request: Option<StoredRequest>,
}

/// What of a chain must be remembered from page to page. It goes through the hands of whoever asks: a bent one only
/// tells him something wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    version: Version,
    hash: String,
    content_version: Version,
    applicant_id: UserId,
    created_at: String,
    submitted_at: Option<String>,
    decided_at: Option<String>,
    decision_reason: Option<String>,
}

impl Carried {
    /// The last row that was checked.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }
}

/// A request's chain, up to a row that was checked.
#[derive(Debug)]
pub struct RequestChain {
    organization_id: OrganizationId,
    last: RequestRow,
    hash: Hash,
    content_version: Version,
    applicant_id: UserId,
    created_at: String,
    submitted_at: Option<String>,
    decided_at: Option<String>,
    /// A hash in place of the text, which can be long.
    decision_reason: Option<String>,
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

impl RequestRow {
    fn broken(&self, version: Version, why: Why) -> Break {
        Break { kind: Kind::Request.as_str().to_owned(), subject: self.request_id.to_string(), version, why }
    }

    /// The row's own hash and content, given what stands before it.
    fn check(&self, organization_id: OrganizationId, previous: Hash) -> Result<Hash, Break> {
        let broken = |why| Err(self.broken(self.version, why));
        if self.hash_format != HASH_FORMAT {
            return broken(Why::HashFormat);
        }
        let columns = RequestColumns {
            organization_id,
            request_id: self.request_id,
            version: self.version,
            actor_id: self.actor_id,
            actor_name: &self.actor_name,
            action: &self.action,
            from_status: self.from_status.as_deref(),
            to_status: &self.to_status,
            reason: self.reason.as_deref(),
            content_hash: &hex::encode(&self.content_hash),
            occurred_at: &self.occurred_at,
        };
        let hash = columns.hash(previous);
        if hash.0[..] != self.entry_hash[..] {
            return broken(Why::EntryHash);
        }
        match (&self.content, self.writes_content()) {
            (None, true) => broken(Why::ContentMissing),
            (Some(_), false) => broken(Why::ContentUnexpected),
            (Some(stored), true) if !stored.is(&self.content_hash) => broken(Why::ContentHash),
            _ => Ok(hash),
        }
    }

    fn writes_content(&self) -> bool {
        matches!(Action::parse(&self.action), Some(Action::Create | Action::Edit))
    }
}

impl StoredContent {
    /// True when the columns, the hash beside them and the judged hash are one.
    fn is(&self, judged: &[u8]) -> bool {
        self.content_hash == judged && self.content.hash().0[..] == *judged
    }
}

impl RequestChain {
    /// The first row of a chain.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn begin(organization_id: OrganizationId, row: RequestRow) -> Result<Self, Break> {
        if row.version != 1 {
            return Err(row.broken(1, Why::EntryMissing));
        }
        let hash = row.check(organization_id, Hash::START)?;
        let draft = (row.action == Action::Create.as_str(), &*row.to_status) == (true, Status::Draft.as_str());
        if !draft || row.from_status.is_some() {
            return Err(row.broken(1, Why::Transition));
        }
        Ok(Self {
            organization_id,
            hash,
            content_version: 1,
            applicant_id: row.actor_id,
            created_at: row.occurred_at.clone(),
            submitted_at: None,
            decided_at: None,
            decision_reason: None,
            last: row,
        })
    }

    /// Goes on from what was carried. `row` is the last one that was checked, read again.
    ///
    /// # Errors
    /// When that row is another one by now.
    pub fn resume(organization_id: OrganizationId, row: RequestRow, carried: Carried) -> Result<Self, Break> {
        if row.version != carried.version || hex::encode(&row.entry_hash) != carried.hash {
            return Err(row.broken(carried.version, Why::EntryHash));
        }
        let hash = Hash::from_bytes(&row.entry_hash).ok_or_else(|| row.broken(row.version, Why::EntryHash))?;
        Ok(Self {
            organization_id,
            hash,
            content_version: carried.content_version,
            applicant_id: carried.applicant_id,
            created_at: carried.created_at,
            submitted_at: carried.submitted_at,
            decided_at: carried.decided_at,
            decision_reason: carried.decision_reason,
            last: row,
        })
    }

    /// Which request.
    #[must_use]
    pub const fn request_id(&self) -> RequestId {
        self.last.request_id
    }

    /// What must be remembered to go on later.
    #[must_use]
    pub fn carried(&self) -> Carried {
        Carried {
            version: self.last.version,
            hash: self.hash.to_string(),
            content_version: self.content_version,
            applicant_id: self.applicant_id,
            created_at: self.created_at.clone(),
            submitted_at: self.submitted_at.clone(),
            decided_at: self.decided_at.clone(),
            decision_reason: self.decision_reason.clone(),
        }
    }

    /// The next row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn follow(&mut self, row: RequestRow) -> Result<(), Break> {
        if row.version != self.last.version + 1 {
            return Err(row.broken(self.last.version + 1, Why::EntryMissing));
        }
        let hash = row.check(self.organization_id, self.hash)?;
        let legal = Status::parse(&self.last.to_status)
            .zip(Action::parse(&row.action))
            .and_then(|(from, action)| transition(from, action))
            .is_some_and(|to| to.as_str() == row.to_status);
        if !legal || row.from_status.as_deref() != Some(&*self.last.to_status) {
            return Err(row.broken(row.version, Why::Transition));
        }
        if row.writes_content() {
            self.content_version = row.version;
        } else if row.content_hash != self.last.content_hash {
            return Err(row.broken(row.version, Why::ContentHash));
        }
        match Action::parse(&row.action) {
            Some(Action::Submit) => {
                self.submitted_at = Some(row.occurred_at.clone());
                self.decision_reason = None;
            }
            Some(Action::Approve | Action::Reject) => {
                self.decided_at = Some(row.occurred_at.clone());
                self.decision_reason = row.reason.as_deref().map(digest);
            }
            Some(Action::SendBack) => self.decision_reason = row.reason.as_deref().map(digest),
            _ => {}
        }
        self.hash = hash;
        self.last = row;
        Ok(())
    }

    /// The end of the chain: compares the request as it stands.
    ///
    /// # Errors
    /// What is wrong there.
    pub fn finish(&self) -> Result<(), Break> {
        let last = &self.last;
        let broken = |why| Err(last.broken(last.version, why));
        let Some(version) = last.request_version else { return broken(Why::RequestMissing) };
        if version > last.version {
            return Err(last.broken(last.version + 1, Why::EntryMissing));
        }
        let Some(request) = last.request.as_ref().filter(|_| version == last.version) else {
            return broken(Why::RequestVersion);
        };
        if request.status != last.to_status {
            return broken(Why::RequestStatus);
        }
        if request.content_version != self.content_version || !request.content.is(&last.content_hash) {
            return broken(Why::RequestContent);
        }
        if request.chain_hash != self.hash.0 {
            return broken(Why::RequestChainHash);
        }
        if (request.applicant_id, &request.created_at) != (self.applicant_id, &self.created_at) {
            return broken(Why::RequestOrigin);
        }
        let stands = (&request.submitted_at, &request.decided_at, request.decision_reason.as_deref().map(digest));
        if stands != (&self.submitted_at, &self.decided_at, self.decision_reason.clone())
            || request.updated_at != last.occurred_at
        {
            return broken(Why::RequestDecision);
        }
        let stands = (&request.last_action, request.last_actor_id, &request.last_actor_name);
        if stands != (&last.action, last.actor_id, &last.actor_name) {
            return broken(Why::RequestLast);
        }
        Ok(())
    }
}

/// A row of `organization_history` with its head.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the column of its name; the time as text in its canonical form")]
pub struct SubjectRow {
    pub kind: String,
    pub subject_id: String,
    pub seq: i64,
    pub actor_id: Option<UserId>,
    pub actor_name: String,
    pub action: String,
    pub reason: Option<String>,
    /// As text, since not every JSON number of PostgreSQL's is one of ours.
    pub detail: String,
    pub occurred_at: String,
    pub hash_format: i16,
    pub entry_hash: Vec<u8>,
    /// Number and hash at the subject's head. `None`: there is no head.
    pub head: Option<(i64, Vec<u8>)>,
}

/// A subject's chain, up to a row that was checked.
#[derive(Debug)]
pub struct SubjectChain {
    organization_id: OrganizationId,
    last: SubjectRow,
    hash: Hash,
}

impl SubjectRow {
    fn broken(&self, seq: i64, why: Why) -> Break {
        Break { kind: self.kind.clone(), subject: self.subject_id.clone(), version: seq, why }
    }

    fn check(&self, organization_id: OrganizationId, previous: Hash) -> Result<Hash, Break> {
        if self.hash_format != HASH_FORMAT {
            return Err(self.broken(self.seq, Why::HashFormat));
        }
        let hash = serde_json::from_str(&self.detail).ok().map(|detail| {
            let columns = SubjectColumns {
                organization_id,
                kind: &self.kind,
                subject_id: &self.subject_id,
                seq: self.seq,
                actor_id: self.actor_id,
                actor_name: &self.actor_name,
                action: &self.action,
                reason: self.reason.as_deref(),
                detail: &detail,
                occurred_at: &self.occurred_at,
            };
            columns.hash(previous)
        });
        hash.filter(|hash| hash.0[..] == self.entry_hash[..]).ok_or_else(|| self.broken(self.seq, Why::EntryHash))
    }
}

impl SubjectChain {
    /// The first row of a chain.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn begin(organization_id: OrganizationId, row: SubjectRow) -> Result<Self, Break> {
        if row.seq != 1 {
            return Err(row.broken(1, Why::EntryMissing));
        }
        let hash = row.check(organization_id, Hash::START)?;
        Ok(Self { organization_id, last: row, hash })
    }

    /// Goes on from the last row that was checked, read again, and its hash as it was carried.
    ///
    /// # Errors
    /// When that row is another one by now.
    pub fn resume(organization_id: OrganizationId, row: SubjectRow, seq: i64, hash: &str) -> Result<Self, Break> {
        match Hash::from_bytes(&row.entry_hash) {
            Some(stored) if row.seq == seq && stored.to_string() == hash => {
                Ok(Self { organization_id, last: row, hash: stored })
            }
            _ => Err(row.broken(seq, Why::EntryHash)),
        }
    }

    /// The last row that was checked, and its hash.
    #[must_use]
    pub const fn last(&self) -> (&SubjectRow, Hash) {
        (&self.last, self.hash)
    }

    /// The next row.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn follow(&mut self, row: SubjectRow) -> Result<(), Break> {
        if row.seq != self.last.seq + 1 {
            return Err(row.broken(self.last.seq + 1, Why::EntryMissing));
        }
        self.hash = row.check(self.organization_id, self.hash)?;
        self.last = row;
        Ok(())
    }

    /// The end of the chain: compares its head.
    ///
    /// # Errors
    /// What is wrong there.
    pub fn finish(&self) -> Result<(), Break> {
        let last = &self.last;
        match &last.head {
            None => Err(last.broken(last.seq, Why::HeadMissing)),
            Some((seq, _)) if *seq > last.seq => Err(last.broken(last.seq + 1, Why::EntryMissing)),
            Some((seq, hash)) if *seq < last.seq || *hash != self.hash.0 => {
                Err(last.broken(last.seq, Why::HeadDiffers))
            }
            Some(_) => Ok(()),
        }
    }
}
