/** A program that is told of events: it keeps what it was sent, and answers as a test wants. */

import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Delivered {
  id: string;
  headers: IncomingHttpHeaders;
  text: string;
  type: string;
}

export class Receiver {
  readonly got: Delivered[] = [];
  status = 200;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request.setEncoding("utf8")) text += piece;
      const id = String(request.headers["webhook-id"]);
      this.got.push({ id, headers: request.headers, text, type: JSON.parse(text).type });
      response.writeHead(this.status, { "Content-Type": "text/plain" }).end(this.status === 200 ? "thanks" : "broken");
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((listening) => receiver.#server.listen(0, "127.0.0.1", listening));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/ringi`;
  }

  /** Whether this secret is among those that signed it, by the rules of Standard Webhooks. */
  static signed({ id, headers, text }: Delivered, secret: string): boolean {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    const mac = createHmac("sha256", key).update(`${id}.${headers["webhook-timestamp"]}.${text}`).digest("base64");
    return String(headers["webhook-signature"]).split(" ").includes(`v1,${mac}`);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** What the program needs for telling a receiver on this machine. */
export const WEBHOOKS = {
  RINGI__WEBHOOKS__SECRET_KEY: "5f".repeat(32),
  RINGI__WEBHOOKS__ALLOW_PRIVATE: "127.0.0.0/8",
};
