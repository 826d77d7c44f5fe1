import assert from "node:assert/strict";
import type { Buffer } from "node:buffer";
import { Redacted } from "../base/redacted.ts";
import { type ControlMessage, contentOf, messageFrom } from "./control-message.ts";
import type { RndcKey } from "./key.ts";
import { signedMessage, verifiedContent } from "./signature.ts";

/** Shows up wherever a secret leaks. */
export const CANARY = "canary-of-thirty-two-bytes-exact";

export const peerKey: RndcKey = {
  name: "op-1",
  algorithm: "hmac-sha256",
  secret: new Redacted(new TextEncoder().encode(CANARY)),
};

export const PEER_NONCE = 4242;

export function readRequest(message: Uint8Array): ControlMessage {
  const content = verifiedContent(message, peerKey);
  assert.ok(content, "the request is not signed with our key");
  return messageFrom(content);
}

/** An answer as named gives it, but for what `change` makes of it. */
export function answerTo(
  request: Uint8Array,
  at: number,
  change: (honest: ControlMessage) => ControlMessage = (honest) => honest,
): Buffer {
  const { serial, data } = readRequest(request);
  const honest = { serial, sentAt: at, expiresAt: at + 60_000, nonce: PEER_NONCE, isReply: true };
  return signedMessage(contentOf(change({ ...honest, data: { type: data.type, result: 0 } })), peerKey);
}
