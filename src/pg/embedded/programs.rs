//! Which PostgreSQL programs to run: found, asked for their version, and compared with the data.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::EmbeddedError;

/// The oldest major version that has all the settings this module passes.
const OLDEST: u32 = 14;

/// A folder with `initdb` and `postgres`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    pub(super) bin: PathBuf,
    pub(super) major: u32,
}

/// Chooses the programs for the cluster in `data`, which need not exist yet. A folder given by the
/// configuration is the only one looked at.
pub(super) fn choose(configured: Option<&Path>, data: &Path) -> Result<Programs, EmbeddedError> {
    let wanted = data_version(data)?;
    let mut found = Vec::new();
    let mut looked = String::new();
    for bin in configured.map_or_else(usual_places, |bin| vec![bin.to_path_buf()]) {
        let Some(major) = version(&bin) else {
            if configured.is_some() {
                let _ = write!(looked, " in the configured folder {}", bin.display());
            }
            continue;
        };
        if major < OLDEST {
            let _ = write!(looked, " (version {major} in {} is too old)", bin.display());
        } else if wanted.is_none_or(|wanted| wanted == major) {
            return Ok(Programs { bin, major });
        } else {
            found.push(format!("version {major} in {}", bin.display()));
        }
    }
    match wanted {
        Some(data_version) if !found.is_empty() => {
            Err(EmbeddedError::WrongVersion { path: data.to_path_buf(), data: data_version, found: found.join(", ") })
        }
        _ => Err(EmbeddedError::NoPrograms { oldest: OLDEST, looked }),
    }
}

/// The locale for a new cluster. With ctype `C` PostgreSQL sees no letters outside ASCII and trigram indexes of
/// other scripts stay empty, so `C` is only the last resort.
pub(super) fn locale() -> String {
    let Ok(output) = Command::new("locale").arg("-a").output() else {
        // Systems without this program (musl) accept the name always.
        return "C.UTF-8".to_owned();
    };
    best_locale(&String::from_utf8_lossy(&output.stdout))
}

fn best_locale(installed: &str) -> String {
    let utf8 = |name: &str| matches!(name.rsplit_once('.'), Some((_, "utf8" | "UTF-8" | "UTF8")));
    let mut names: Vec<&str> = installed.lines().filter(|name| utf8(name)).collect();
    // C.UTF-8 sorts by code point, like the language-neutral order of the application; then whatever there is.
    names.sort_by_key(|name| (!name.starts_with("C."), !name.starts_with("en_US.")));
    names.first().map_or("C", |name| name).to_owned()
}

/// The major version written in an existing data folder; `None` when the folder does not exist.
fn data_version(data: &Path) -> Result<Option<u32>, EmbeddedError> {
    let file = data.join("PG_VERSION");
    match fs::read_to_string(&file) {
        Ok(text) => match text.trim().parse() {
            Ok(major) => Ok(Some(major)),
            Err(_) => Err(EmbeddedError::NotACluster(data.to_path_buf())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(data).is_ok() {
                Err(EmbeddedError::NotACluster(data.to_path_buf()))
            } else {
                Ok(None)
            }
        }
        Err(error) => Err(EmbeddedError::io("read", file)(error)),
    }
}

/// `pg_config`'s folder, the search path, then where distributions put several versions side by side, newest first.
fn usual_places() -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output()
        && output.status.success()
    {
        places.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    if let Some(path) = std::env::var_os("PATH") {
        places.extend(std::env::split_paths(&path).filter(|dir| dir.is_absolute()));
    }
    places.extend(side_by_side(Path::new("/usr/lib/postgresql"), ""));
    places.extend(side_by_side(Path::new("/usr"), "pgsql-"));
    places.push(PathBuf::from("/usr/local/pgsql/bin"));
    let mut seen = HashSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places
}

/// The folders `parent/<prefix><major>/bin`, newest first.
fn side_by_side(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let major = name.to_str()?.strip_prefix(prefix)?.parse().ok()?;
            Some((major, entry.path().join("bin")))
        })
        .collect();
    versions.sort_by_key(|(major, _)| std::cmp::Reverse(*major));
    versions.into_iter().map(|(_, bin)| bin).collect()
}

/// The major version of the programs in this folder; `None` unless both are there and answer.
fn version(bin: &Path) -> Option<u32> {
    if !bin.join("initdb").is_file() || !bin.join("postgres").is_file() {
        return None;
    }
    let output = Command::new(bin.join("postgres")).arg("--version").output().ok()?;
    major(&String::from_utf8_lossy(&output.stdout))
}

/// Reads `postgres (PostgreSQL) 15.14 (Debian 15.14-0)`; also `17beta1` and `18devel`.
fn major(text: &str) -> Option<u32> {
    let rest = text.split_once("(PostgreSQL)")?.1.trim_start();
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{best_locale, major};

    #[test]
    fn reads_versions() {
        assert_eq!(major("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), Some(15));
        assert_eq!(major("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major("postgres (PostgreSQL) 9.6.24\n"), Some(9));
        assert_eq!(major("something else"), None);
    }

    #[test]
    fn prefers_a_locale_that_knows_letters() {
        assert_eq!(best_locale("C\nC.utf8\nPOSIX\nja_JP.utf8\n"), "C.utf8");
        assert_eq!(best_locale("C\nde_DE.utf8\nen_US.UTF-8\n"), "en_US.UTF-8");
        assert_eq!(best_locale("C\nde_DE\nja_JP.UTF-8\n"), "ja_JP.UTF-8");
        assert_eq!(best_locale("C\nPOSIX\n"), "C");
    }
}
