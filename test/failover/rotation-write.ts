import { secretType } from "../../src/publish/secret-publisher.ts";
import { families } from "../families/families.ts";
import type { Passage } from "../support/gateway.ts";

/** A request and what the server said to it. */
export interface AnsweredWrite extends Pick<Passage, "method" | "path" | "body"> {
  readonly status: number;
}

const PLURALS = new Set(families.map(({ type }) => type.plural));
const PENDING = /"pending":\s*\{/;

/**
 * Whether an operator has begun a rotation with this write, or has gone on with one: it intends a key or says more of the
 * one that is intended, makes the child that is to be the next key, publishes, or names the key that is in use now. What
 * may be the end of a rotation or of a retired key alike, does not count: what is told is too late rather than too early.
 */
export function isRotationWrite({ method, path, body, status }: AnsweredWrite): boolean {
  if (status < 200 || status > 299) return false;
  const { plural, subresource } = targetOf(path);
  if (plural === secretType.plural) return (method === "PUT" || method === "POST") && body.includes(KEY_ID);
  if (!PLURALS.has(plural)) return false;
  if (method === "POST") return true;
  if (subresource === "status") return PENDING.test(body);
  return method === "PATCH" && body.includes(EXTERNAL_NAME);
}

/** Whether somebody has taken the Lease of this name with it, or has renewed it. */
export const isLeaseWrite = ({ method, path, body, status }: AnsweredWrite, lease: string): boolean =>
  status >= 200 &&
  status <= 299 &&
  targetOf(path).plural === "leases" &&
  (path.includes(`/${lease}`) || (method === "POST" && body.includes(lease))) &&
  method !== "GET" &&
  !body.includes('"holderIdentity":""');

const KEY_ID = "keyturn.dev/key-id";
const EXTERNAL_NAME = "crossplane.io/external-name";
const PATH =
  /^\/(?:api|apis\/[^/]+)\/v[^/]+\/(?:namespaces\/[^/]+\/(?=[a-z]))?([^/?]+)(?:\/[^/?]+(?:\/([^/?]+))?)?(?:\?.*)?$/;

function targetOf(path: string): { readonly plural: string; readonly subresource: string } {
  const [, plural = "", subresource = ""] = PATH.exec(path) ?? [];
  return { plural, subresource };
}
