//! A slow stand-in for an outside system, for whoever wants to see what Ringi does while one works: `ringi demo
//! --connector`. It does what a good one does: it works on each order once, whatever becomes of who asked, answers a
//! repetition with the same result, and refuses whoever was replaced.

use actix_web::dev::Server;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

struct StandIn {
    delay: Duration,
    orders: Mutex<HashMap<String, Order>>,
}

#[derive(Clone, Copy)]
struct Order {
    number: usize,
    done: Instant,
    fence: i64,
    asked: u32,
}

/// Serves until it is stopped by a signal. Each order takes `delay`.
///
/// # Errors
/// When the listener can't be used.
pub fn serve(listener: TcpListener, delay: Duration) -> std::io::Result<Server> {
    let state = Data::new(StandIn { delay, orders: Mutex::default() });
    let server =
        HttpServer::new(move || App::new().app_data(Data::clone(&state)).default_service(web::post().to(order)));
    Ok(server.workers(1).shutdown_timeout(1).listen(listener)?.run())
}

async fn order(request: HttpRequest, body: Bytes, state: Data<StandIn>) -> HttpResponse {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let (Some(key), Some(fence)) =
        (header("idempotency-key"), header("ringi-fence").and_then(|fence| fence.parse::<i64>().ok()))
    else {
        return HttpResponse::BadRequest().json(json!({"error": "send Idempotency-Key and Ringi-Fence"}));
    };
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let order = {
        let mut orders = state.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let number = orders.len() + 1;
        let done = Instant::now() + state.delay;
        let order = orders.entry(key.to_owned()).or_insert(Order { number, done, fence, asked: 0 });
        if fence < order.fence {
            tracing::warn!(key, fence, newest = order.fence, "refused: somebody else has taken over");
            return HttpResponse::Conflict()
                .json(json!({"error": "somebody else has taken over", "fence": order.fence}));
        }
        order.fence = fence;
        order.asked += 1;
        *order
    };
    let left = order.done.saturating_duration_since(Instant::now());
    tracing::info!(key, fence, asked = order.asked, seconds_left = left.as_secs(), title = ?sent.get("title"), "an order");
    tokio::time::sleep_until(order.done).await;
    tracing::info!(key, fence, "answered");
    HttpResponse::Ok().json(json!({
        "order": format!("STAND-IN-{}", order.number),
        "asked": order.asked,
        "fence": fence,
    }))
}
