import { BINDING_SECRET_PREFIX, USER_PROVIDED } from "../api/korifi/names.ts";
import { Redacted } from "../base/redacted.ts";
import { type Credentials, encodeText, type SecretValues } from "./credentials.ts";
import { stringIn } from "./json-text.ts";
import { onceFor } from "./once-for.ts";

/** The Secret for projection, as the Service Binding specification has it: its type, and a value for each key. */
export interface FlatSecret {
  readonly type: string;
  readonly data: SecretValues;
}

/** Beyond this it is no word for a kind of service. */
const MAX_TYPE_LENGTH = 253;

/** A string is what it says; everything else is its JSON, with every digit and every character that was written. */
export const flatten = onceFor((credentials: Credentials): FlatSecret => {
  const members = credentials.members.reveal();
  const type = typeIn(members);
  const data = Array.from(members, ([name, value]) => [name, encodeText(stringIn(value) ?? value)] as const);
  // Binding libraries look for it, so it is there even where nobody has said it.
  const withType = members.has("type") ? data : [...data, ["type", encodeText(type)] as const];
  return { type: `${BINDING_SECRET_PREFIX}${type}`, data: new Redacted(Object.fromEntries(withType)) };
});

function typeIn(members: ReadonlyMap<string, string>): string {
  const type = stringIn(members.get("type")) ?? "";
  return type === "" || type.length > MAX_TYPE_LENGTH ? USER_PROVIDED : type;
}
