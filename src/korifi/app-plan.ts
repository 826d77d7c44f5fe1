import { VCAP_SERVICES_KEY } from "../api/korifi/names.ts";
import { Redacted } from "../base/redacted.ts";
import { decodeText, encodeText, MAX_SECRET_BYTES, readCredentialsIn, textOf } from "./credentials.ts";
import { type DerivedFrom, derivedFromText, originsOf, readDerivedFrom, united } from "./derived-from.ts";
import { type Finding, finding } from "./finding.ts";
import type { Binding, Instance, SecretView } from "./model.ts";
import { vcapSecretName } from "./names.ts";
import { nothingBut, type Plan, secretWrites } from "./plan.ts";
import { isSameJson } from "./same-json.ts";
import { entriesIn, type VcapEntry, vcapEntry, vcapServices } from "./vcap.ts";

/** The services of an application, in the Secret that its VCAP_SERVICES comes from. */
export interface AppScene {
  readonly appName: string;
  /** Of its CFApp, where there is one. */
  readonly appUid?: string;
  readonly services: readonly AppService[];
  /** The Secret `vcapSecretName(appName)`. */
  readonly present: SecretView | undefined;
}

export interface AppService {
  readonly binding: Binding;
  readonly instance: Instance | undefined;
  /** The Secret that the binding's status names for this. */
  readonly credentials: SecretView | undefined;
  /** What `present` says of it is so still, and made from these: the credentials need not be looked at. */
  readonly unchanged?: DerivedFrom;
}

export interface AppPlan extends Plan {
  /** The bindings of which VCAP_SERVICES is to say something else than it does. */
  readonly changed: readonly string[];
  /** Those whose credentials cannot be read: what was said of them is still said. */
  readonly behind: readonly string[];
}

export function planApp({ appName, appUid, services, present }: AppScene): AppPlan {
  const name = vcapSecretName(appName);
  if (present !== undefined && !isOurs(present, appName, appUid)) {
    const taken = finding("SecretTaken", `the Secret ${name} is somebody else's: its name is needed`);
    return { ...nothingBut(taken), ...NO_BINDINGS };
  }
  const bound = services.filter(({ binding }) => !binding.isDeleting);
  const before = present === undefined ? NO_ENTRIES : entriesIn(vcapIn(present));
  const { entries, findings, behind, origins } = entriesOf(bound, before, readDerivedFrom(present?.derivedFrom ?? ""));
  // It comes into being with the first service.
  const isUnborn = present === undefined && entries.length === 0;
  if (isUnborn || isKept(present, { entries, before, origins })) {
    return { ...nothingBut(...findings), changed: [], behind };
  }
  const text = vcapServices(entries).reveal();
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_SECRET_BYTES) {
    const message = `VCAP_SERVICES of ${appName} would have ${bytes} bytes, and a Secret holds ${MAX_SECRET_BYTES}: it stays as it is until there is room`;
    return { ...nothingBut(...findings, finding("CredentialsTooLarge", message)), ...NO_BINDINGS };
  }
  const data = new Redacted({ [VCAP_SERVICES_KEY]: encodeText(text) });
  const wanted = { name, type: "Opaque", data, owner: "app", derivedFrom: derivedFromText(origins) } as const;
  const writes = secretWrites(wanted, present);
  if (present?.isImmutable && writes.length > 0) {
    const immutable = finding("SecretTaken", `the Secret ${name} is immutable: delete it, and it is made anew`);
    return { ...nothingBut(...findings, immutable), ...NO_BINDINGS };
  }
  return { writes, findings, changed: changedIn(entries, before), behind };
}

const NO_BINDINGS = { changed: [], behind: [] } as const;

/** Without a CFApp nobody owns it, and what it says of itself tells it from others. */
const isOurs = ({ servicesOf, ownerUids }: SecretView, appName: string, appUid: string | undefined): boolean =>
  servicesOf === appName || (appUid !== undefined && ownerUids.includes(appUid));

type Entries = ReadonlyMap<string, VcapEntry>;

interface Wanted {
  readonly entries: readonly VcapEntry[];
  readonly before: Entries;
  readonly origins: DerivedFrom;
}

/**
 * Whether it is one of Korifi's own that says what it is to say: to write it another way would restart applications for an
 * upgrade. What is made from a key that is rotated has to say so on it, and is written.
 */
function isKept(present: SecretView | undefined, { entries, before, origins }: Wanted): boolean {
  const isKeyed = [...origins.values()].some((keyId) => keyId !== undefined);
  if (present === undefined || present.derivedFrom !== undefined || isKeyed) return false;
  return entries.length > 0 && entries.length === before.size && entries.every((entry) => saysTheSame(entry, before));
}

/** In any order, and whichever way it is escaped. */
function saysTheSame({ bindingName, label, text }: VcapEntry, before: Entries): boolean {
  const former = before.get(bindingName);
  if (former === undefined || former.label !== label) return false;
  return isSameJson(former.text.reveal(), text.reveal());
}

const NO_ENTRIES: Entries = new Map();

/** One service that cannot be read does not keep the others back: it stays what it was. */
function entriesOf(services: readonly AppService[], before: Entries, said: DerivedFrom) {
  const behind: string[] = [];
  const entries: VcapEntry[] = [];
  const origins: (readonly [string, string | undefined])[] = [];
  for (const service of services) {
    const { binding, credentials, unchanged } = service;
    const former = before.get(binding.name);
    const isUnchanged = unchanged !== undefined && former !== undefined;
    const current = isUnchanged ? former : currentEntry(service);
    if (current === undefined) behind.push(binding.name);
    const entry = current ?? former;
    if (entry === undefined) continue;
    entries.push(entry);
    if (isUnchanged) origins.push(...unchanged);
    else if (current !== undefined) origins.push(...originsOf(credentials ? [credentials] : []));
    // What it was made from then, and which of these that is nothing tells.
    else origins.push(...said);
  }
  return { entries, findings: behind.sort().map(notReady), behind, origins: united(origins) };
}

const notReady = (name: string): Finding =>
  finding("BindingNotReady", `the binding ${name} has no credentials that can be read`);

function changedIn(entries: readonly VcapEntry[], before: Entries): readonly string[] {
  const other = entries.filter(({ bindingName, text }) => before.get(bindingName)?.text.reveal() !== text.reveal());
  const gone = [...before.keys()].filter((name) => !entries.some(({ bindingName }) => bindingName === name));
  return [...other.map(({ bindingName }) => bindingName), ...gone].sort();
}

const vcapIn = ({ data }: SecretView): Redacted<string> =>
  new Redacted(decodeText(data.reveal()[VCAP_SERVICES_KEY] ?? "") ?? "");

function currentEntry({ binding, instance, credentials }: AppService): VcapEntry | undefined {
  const read = credentials && readCredentialsIn(credentials);
  if (read?.kind !== "credentials" || instance === undefined) return undefined;
  return vcapEntry({
    bindingName: binding.name,
    ...(binding.displayName !== undefined && { bindingDisplayName: binding.displayName }),
    instanceName: instance.name,
    instanceDisplayName: instance.displayName,
    label: instance.label,
    tags: instance.tags,
    credentials: textOf(read.credentials),
  });
}
