//! A name that is public when an administrator names it, and leads inside when it is called.

use crate::harness::{App, PATIENCE};
use crate::key_server::until;
use crate::receiver::Receiver;
use crate::webhooks::{KEY, hooked, look, post, wish};
use ringi::config::Secret;
use ringi::domain::ids::{OrganizationId, UserId};
use ringi::domain::lease::Ticket;
use ringi::domain::webhook::EndpointInput;
use ringi::outbox::{Consumer as _, Relay, Term};
use ringi::pg::{PgDeliveries, PgReads, PgStore};
use ringi::transaction::idempotency::Answer;
use ringi::transaction::{Call, Viewer};
use ringi::webhooks::address::{Guard, Names};
use ringi::webhooks::deliver::{Deliveries, DeliverySettings};
use ringi::webhooks::secret::Keys;
use ringi::webhooks::sender::{Sender, SenderSettings};
use serde_json::json;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A name server of somebody who means harm.
#[derive(Default)]
struct Turning {
    inside: AtomicBool,
    asked: AtomicUsize,
}

impl Names for Turning {
    fn look_up<'a>(&'a self, _: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let address = if self.inside.load(Ordering::SeqCst) { [127, 0, 0, 1] } else { [93, 184, 215, 14] };
        Box::pin(async move { Ok(vec![IpAddr::from(address)]) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_turned_inside_is_not_followed() {
    // The app's own relay has no key, so it delivers nothing: here the test's guard does.
    let mut settings = hooked();
    settings.webhooks.secret_key = Secret::default();
    let app = App::with(settings).await;
    let receiver = Receiver::start().await;
    let names = Arc::new(Turning::default());
    let guard = |allowed: &[&str]| {
        Guard::new(Arc::clone(&names) as Arc<dyn Names>, allowed.iter().map(|net| net.parse().unwrap()).collect())
    };
    let keys = Keys::read(KEY, []).unwrap().unwrap();

    let viewer = Viewer { organization_id: OrganizationId(app.organization), user_id: UserId(app.admin.id) };
    let url = receiver.url("/in").replace("127.0.0.1", "turning.example");
    let input = EndpointInput { url, event_types: vec!["request.submit".to_owned()] };
    let rendered =
        |endpoint: &ringi::domain::webhook::Endpoint, _, _: Option<&ringi::webhooks::secret::SigningSecret>| Answer {
            status: 201,
            location: None,
            body: json!({"id": endpoint.id}).to_string().into_bytes(),
        };
    let webhooks = app.use_cases.webhooks.clone().configured(guard(&[]), Some(keys.clone()));
    let call = Call { viewer, key: None };
    let made = webhooks.add(&call, &input, &rendered).await.unwrap();
    let endpoint: serde_json::Value = serde_json::from_slice(&made.answer.body).unwrap();

    names.inside.store(true, Ordering::SeqCst);
    // Now it would be refused, had anybody asked; nobody does.
    webhooks.add(&call, &input, &rendered).await.unwrap_err();
    let asked = names.asked.load(Ordering::SeqCst);
    let closed = deliver(&app, guard(&[]), keys.clone()).await;
    app.applicant().await.submitted("Desk").await;
    until("it was tried", async || look(&app, &endpoint).await["failures"].as_i64() > Some(0)).await;
    let seen = look(&app, &endpoint).await;
    assert!(seen["last_error"].as_str().unwrap().contains("private network"), "{seen}");
    assert!(names.asked.load(Ordering::SeqCst) > asked, "the name is looked up for the connection");
    assert_eq!(receiver.at("/in").len(), 0, "the inside was reached");
    closed.end().await;

    // The same with leave to go there arrives: what was refused was the address and nothing else.
    let open = deliver(&app, guard(&["127.0.0.0/8"]), keys).await;
    app.execute("UPDATE webhook_endpoint SET next_attempt_at = NULL").await;
    receiver.until_asked("/in", 1).await;
    open.end().await;
    // Nobody has a key here, and who wants something sent is told so.
    let told = post(&app, &endpoint, "enable", json!({"version": 1})).await;
    told.expect_problem(409, "webhooks_not_configured");
    assert_eq!(wish(&app, &endpoint, "disable", json!({})).await["state"], "disabled");
    app.stop().await;
}

struct Delivering {
    over: CancellationToken,
    task: tokio::task::JoinHandle<()>,
    _news: watch::Sender<u64>,
}

impl Delivering {
    async fn end(self) {
        self.over.cancel();
        tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }
}

/// Delivers under the lease of the app's relay.
async fn deliver(app: &App, guard: Guard, keys: Keys) -> Delivering {
    let mut db = app.database.connect().await;
    let token = sqlx::query_scalar("SELECT lease_token FROM job_lease WHERE kind = 'relay'");
    let ticket = Ticket { target: Relay::target(), token: token.fetch_one(&mut db).await.unwrap() };
    let (pool, hooks) = (app.pools.write.clone(), &app.settings.webhooks);
    let store = PgDeliveries::new(PgReads::new(pool.clone(), PATIENCE, PATIENCE), PgStore::new(pool, PATIENCE));
    let sender_settings = SenderSettings { connect_timeout: hooks.connect_timeout, timeout: hooks.timeout };
    let settings = DeliverySettings {
        endpoints_at_once: 4,
        subjects_at_once: 4,
        patience: hooks.patience(),
        log_rows: 100,
        log_age: Duration::from_hours(24),
    };
    let deliveries = Deliveries::new(store, Sender::new(guard, sender_settings).unwrap(), keys, settings);
    let (tell, news) = watch::channel(0);
    let over = CancellationToken::new();
    let term = Term { ticket, over: over.clone(), news };
    let task = tokio::spawn(async move { deliveries.run(term).await });
    Delivering { over, task, _news: tell }
}
