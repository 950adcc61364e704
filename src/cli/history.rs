//! `ringi history`: verification, checkpoints and their keys.

use super::progress::Progress;
use super::say;
use crate::app::{AppError, Db};
use crate::config::Settings;
use crate::domain::ids::OrganizationId;
use crate::domain::verify::{Break, Why};
use crate::inspection::checkpoint::{CheckpointError, Reader, Writer, generate};
use crate::inspection::store::{Head, VerificationReads};
use crate::inspection::verify::{Place, verify};
use crate::pg::{PgReads, PoolSettings};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use uuid::Uuid;

/// What `verify` exits with when a row is broken.
const BROKEN: u8 = 5;
/// How many rows are checked between two looks at the progress.
const BUDGET: i64 = 10_000;
/// How many heads are read or compared at once.
const HEADS: i64 = 1_000;

#[derive(Debug, Subcommand)]
pub(super) enum History {
    /// Walk every chain, recompute every hash, and name the first broken row.
    #[command(
        after_help = "Exit codes: 0 whole, 5 a row is broken, 1 could not be checked.\nExample: ringi history verify --org 0197c0de-0000-7000-8000-000000000001 --against june.ckpt --public-key auditor.key.pub"
    )]
    Verify(Verify),
    /// Write a signed file of all chain heads of an organization, to be kept out of the database's reach.
    #[command(
        after_help = "Example: ringi history checkpoint --org 0197c0de-0000-7000-8000-000000000001 --key auditor.key --out june.ckpt"
    )]
    Checkpoint(Checkpoint),
    /// Make an Ed25519 key for checkpoints: FILE, for its owner only, and FILE.pub, for everybody.
    #[command(after_help = "Example: ringi history keygen --out auditor.key")]
    Keygen {
        /// Where the private key goes. An existing file is never replaced.
        #[arg(long)]
        out: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(super) struct Verify {
    /// One organization; all of them when left out.
    #[arg(long)]
    org: Option<Uuid>,
    /// A checkpoint, which also finds rewriting and deletion since it was written. Its organization is verified.
    #[arg(long, requires = "public_key")]
    against: Option<PathBuf>,
    /// The public key that the checkpoint must be signed with.
    #[arg(long, requires = "against")]
    public_key: Option<PathBuf>,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Checkpoint {
    /// The organization.
    #[arg(long)]
    org: Uuid,
    /// The private key.
    #[arg(long)]
    key: PathBuf,
    /// Where the checkpoint goes; standard output when left out. An existing file is never replaced.
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(super) async fn run(command: History, settings: &Settings) -> Result<ExitCode, AppError> {
    match command {
        History::Keygen { out } => keygen(&out),
        History::Verify(wanted) => {
            // Before the database: a file that can't be believed is told at once.
            let checkpoint = wanted.against.as_deref().zip(wanted.public_key.as_deref());
            let checkpoint = checkpoint.map(|(file, key)| Believed::open(file, key)).transpose()?;
            with_reads(settings, async |reads| verify_command(&reads, &wanted, checkpoint.as_ref()).await).await
        }
        History::Checkpoint(wanted) => {
            with_reads(settings, async |reads| checkpoint_command(&reads, &wanted).await).await
        }
    }
}

async fn with_reads(
    settings: &Settings,
    work: impl AsyncFnOnce(PgReads) -> Result<ExitCode, AppError>,
) -> Result<ExitCode, AppError> {
    let db = Db::open(&settings.database).await?;
    let done = async {
        db.prepare(false, &settings.database).await?;
        let pools = db.pools(&settings.database).await?;
        let limit = PoolSettings::from(&settings.database).answer_limit();
        let done = work(PgReads::new(pools.read.clone(), settings.database.acquire_timeout, limit)).await;
        pools.close();
        done
    }
    .await;
    db.leave().await;
    done
}

fn keygen(out: &Path) -> Result<ExitCode, AppError> {
    let (private, public) = generate().map_err(|error| AppError::Other(error.to_string()))?;
    let public_out = PathBuf::from(format!("{}.pub", out.display()));
    for (path, text, mode) in [(out, &private, 0o600), (&*public_out, &public, 0o644)] {
        create(path, mode)?.write_all(text.as_bytes()).map_err(|error| io(path, error))?;
    }
    say(&format!("{}\n{}", out.display(), public_out.display()));
    Ok(ExitCode::SUCCESS)
}

fn create(path: &Path, mode: u32) -> Result<File, AppError> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path).map_err(|error| io(path, error))
}

fn io(path: &Path, error: std::io::Error) -> AppError {
    AppError::Io(path.display().to_string(), error)
}

fn read(path: &Path) -> Result<String, AppError> {
    std::fs::read_to_string(path).map_err(|error| io(path, error))
}

async fn checkpoint_command(reads: &PgReads, wanted: &Checkpoint) -> Result<ExitCode, AppError> {
    let organization = OrganizationId(wanted.org);
    let key = read(&wanted.key)?;
    let Some((_, now)) = reads.extent(organization).await? else { return Err(unknown(organization)) };
    let Some(path) = &wanted.out else {
        let out = std::io::stdout().lock();
        let writer = Writer::begin(BufWriter::new(out), &key, organization, now).map_err(|error| other(&error))?;
        write_heads(reads, organization, writer).await?;
        return Ok(ExitCode::SUCCESS);
    };
    // Whole, or not there at all: a cut one would be found out only when it is needed.
    let unfinished = PathBuf::from(format!("{}.part", path.display()));
    if path.exists() {
        return Err(AppError::Other(format!("{} is there already: choose another name", path.display())));
    }
    let file = create(&unfinished, 0o644)?;
    let writer = Writer::begin(BufWriter::new(file), &key, organization, now).map_err(|error| other(&error));
    let written = match writer {
        Ok(writer) => write_heads(reads, organization, writer).await,
        Err(error) => Err(error),
    };
    let kept = written.and_then(|(heads, out)| {
        let file = out.into_inner().map_err(|error| io(&unfinished, error.into_error()))?;
        file.sync_all().map_err(|error| io(&unfinished, error))?;
        std::fs::rename(&unfinished, path).map_err(|error| io(path, error))?;
        Ok(heads)
    });
    match kept {
        Ok(heads) => say(&format!("{}: {heads} heads", path.display())),
        Err(error) => {
            drop(std::fs::remove_file(&unfinished));
            return Err(error);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn write_heads<W: Write>(
    reads: &PgReads,
    organization: OrganizationId,
    mut writer: Writer<W>,
) -> Result<(u64, W), AppError> {
    let mut after = None;
    loop {
        let heads = reads.request_heads(organization, after, HEADS).await?;
        let Some(last) = heads.last() else { break };
        after = last.subject.parse().ok().map(crate::domain::ids::RequestId);
        heads.iter().try_for_each(|head| writer.head(head)).map_err(|error| other(&error))?;
    }
    let mut after: Option<(String, String)> = None;
    loop {
        let place = after.as_ref().map(|(kind, subject)| (&**kind, &**subject));
        let heads = reads.subject_heads(organization, place, HEADS).await?;
        let Some(last) = heads.last() else { break };
        after = Some((last.kind.clone(), last.subject.clone()));
        heads.iter().try_for_each(|head| writer.head(head)).map_err(|error| other(&error))?;
    }
    writer.finish().map_err(|error| other(&error))
}

/// A checkpoint whose signature held when it was opened.
struct Believed {
    file: PathBuf,
    public_key: String,
    organization_id: OrganizationId,
    created_at: String,
}

impl Believed {
    fn open(file: &Path, public_key: &Path) -> Result<Self, AppError> {
        let public_key = read(public_key)?;
        let mut reader = Self::reader(file, &public_key)?;
        while reader.next_head().map_err(|error| told(file, &error))?.is_some() {}
        let header = reader.header();
        Ok(Self {
            file: file.to_owned(),
            organization_id: header.organization_id,
            created_at: header.created_at.clone(),
            public_key,
        })
    }

    fn reader(file: &Path, public_key: &str) -> Result<Reader<BufReader<File>>, AppError> {
        let input = File::open(file).map_err(|error| io(file, error))?;
        Reader::begin(BufReader::new(input), public_key).map_err(|error| told(file, &error))
    }

    /// Compares each head with the row that it names. The signature is checked again on the way.
    async fn compare(&self, reads: &PgReads) -> Result<(i64, Option<Break>), AppError> {
        let mut reader = Self::reader(&self.file, &self.public_key)?;
        let (mut compared, mut found) = (0, None);
        loop {
            let mut heads: Vec<Head> = Vec::new();
            while heads.len() < usize::try_from(HEADS).unwrap_or(1) {
                match reader.next_head().map_err(|error| told(&self.file, &error))? {
                    Some(head) => heads.push(head),
                    None => break,
                }
            }
            if heads.is_empty() {
                return Ok((compared, found));
            }
            let ended = heads.len() < usize::try_from(HEADS).unwrap_or(1);
            compared += i64::try_from(heads.len()).unwrap_or(0);
            if found.is_none() {
                let hashes = reads.hashes_now(self.organization_id, &heads).await?;
                found = heads.into_iter().zip(hashes).find_map(|(head, now)| {
                    let why = match now {
                        None => Why::CheckpointMissing,
                        Some(hash) if hash != head.chain_hash => Why::CheckpointDiffers,
                        Some(_) => return None,
                    };
                    Some(Break { kind: head.kind, subject: head.subject, version: head.version, why })
                });
            }
            if ended {
                return Ok((compared, found));
            }
        }
    }
}

fn told(file: &Path, error: &CheckpointError) -> AppError {
    AppError::Other(format!("{}: {error}", file.display()))
}

fn other(error: &CheckpointError) -> AppError {
    AppError::Other(error.to_string())
}

fn unknown(organization: OrganizationId) -> AppError {
    AppError::Other(format!("there is no organization {organization}"))
}

async fn verify_command(reads: &PgReads, wanted: &Verify, checkpoint: Option<&Believed>) -> Result<ExitCode, AppError> {
    let mut broken = false;
    if let Some(organization) =
        checkpoint.map(|checkpoint| checkpoint.organization_id).or(wanted.org.map(OrganizationId))
    {
        if wanted.org.is_some_and(|org| org != organization.0) {
            return Err(AppError::Other(format!("the checkpoint is of organization {organization}, not of --org")));
        }
        broken = !verify_one(reads, organization, checkpoint, wanted.json).await?;
    } else {
        let mut after = None;
        loop {
            let organizations = reads.organizations(after, HEADS).await?;
            let Some(last) = organizations.last() else { break };
            after = Some(*last);
            for organization in organizations {
                broken |= !verify_one(reads, organization, None, wanted.json).await?;
            }
        }
    }
    Ok(if broken { ExitCode::from(BROKEN) } else { ExitCode::SUCCESS })
}

/// True when the organization's histories are whole.
async fn verify_one(
    reads: &PgReads,
    organization: OrganizationId,
    checkpoint: Option<&Believed>,
    as_json: bool,
) -> Result<bool, AppError> {
    let Some((rows, _)) = reads.extent(organization).await? else { return Err(unknown(organization)) };
    let progress = Progress::new(organization.to_string(), rows, as_json);
    let (mut checked, mut broken, mut place) = (0, None, Some(Place::START));
    while let Some(at) = place {
        let part = verify(reads, organization, None, at, BUDGET).await?;
        checked += part.checked;
        broken = part.first_broken;
        place = part.next;
        progress.at(checked);
    }
    let mut compared = None;
    if let Some(checkpoint) = checkpoint {
        let (heads, found) = checkpoint.compare(reads).await?;
        compared = Some(heads);
        broken = broken.or(found);
    }
    progress.end();
    say(&report(organization, checked, broken.as_ref(), checkpoint.zip(compared), as_json));
    Ok(broken.is_none())
}

fn report(
    organization: OrganizationId,
    checked: i64,
    broken: Option<&Break>,
    checkpoint: Option<(&Believed, i64)>,
    as_json: bool,
) -> String {
    if as_json {
        let first_broken = broken.map(|broken| {
            let subject = if broken.kind == "request" { "request_id" } else { "subject_id" };
            json!({"kind": broken.kind, subject: broken.subject, "version": broken.version, "why": broken.why.as_str()})
        });
        let mut line = json!({"organization_id": organization, "whole": broken.is_none(), "checked": checked, "first_broken": first_broken});
        if let (Some((checkpoint, heads)), Value::Object(line)) = (checkpoint, &mut line) {
            line.insert("checkpoint".into(), json!({"created_at": checkpoint.created_at, "heads": heads}));
        }
        return line.to_string();
    }
    let against = checkpoint.map_or_else(String::new, |(checkpoint, heads)| {
        format!(", against {heads} heads of {}", checkpoint.created_at)
    });
    match broken {
        None => format!("{organization}: whole ({checked} rows{against})"),
        Some(Break { kind, subject, version, why }) => {
            format!(
                "{organization}: BROKEN at {kind} {subject} version {version}: {} ({checked} rows whole before it{against})",
                why.as_str()
            )
        }
    }
}
