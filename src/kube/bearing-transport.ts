import type { Redacted } from "../base/redacted.ts";
import type { Transport } from "./transport.ts";

/** The way to a server with somebody's token, over connections that many share. Must not: close what is not its own. */
export const bearingTransport = (transport: Transport, token: Redacted<string>): Transport => ({
  send: (request) =>
    transport.send({ ...request, headers: { ...request.headers, authorization: `Bearer ${token.reveal()}` } }),
  close: async () => {},
});
