import { VCAP_SERVICES_KEY } from "../api/korifi/names.ts";
import { Redacted } from "../base/redacted.ts";
import { decodeText, encodeText, MAX_SECRET_BYTES, readCredentialsIn, textOf } from "./credentials.ts";
import { type Finding, finding } from "./finding.ts";
import type { Binding, Instance, SecretView } from "./model.ts";
import { vcapSecretName } from "./names.ts";
import { nothingBut, type Plan, secretWrites } from "./plan.ts";
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
}

export function planApp({ appName, appUid, services, present }: AppScene): Plan {
  const name = vcapSecretName(appName);
  if (present !== undefined && !isOurs(present, appUid)) {
    return nothingBut(finding("SecretTaken", `the Secret ${name} is somebody else's: its name is needed`));
  }
  const bound = services.filter(({ binding }) => !binding.isDeleting);
  const { entries, findings } = entriesOf(bound, present);
  const text = vcapServices(entries).reveal();
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_SECRET_BYTES) {
    const message = `VCAP_SERVICES of ${appName} would have ${bytes} bytes, and a Secret holds ${MAX_SECRET_BYTES}`;
    return nothingBut(...findings, finding("CredentialsTooLarge", message));
  }
  const data = new Redacted({ [VCAP_SERVICES_KEY]: encodeText(text) });
  const derivedFrom = [...new Set(bound.flatMap(({ binding }) => binding.envName ?? []))].sort().join(",");
  return { writes: secretWrites({ name, type: "Opaque", data, owner: "app", derivedFrom }, present), findings };
}

/** Without a CFApp nobody owns it, and what it was made from tells it from others. */
const isOurs = ({ derivedFrom, ownerUids }: SecretView, appUid: string | undefined): boolean =>
  derivedFrom !== undefined || (appUid !== undefined && ownerUids.includes(appUid));

/** One service that cannot be read does not keep the others back: it stays what it was. */
function entriesOf(services: readonly AppService[], present: SecretView | undefined) {
  const before = present === undefined ? undefined : entriesIn(vcapIn(present));
  const findings: Finding[] = [];
  const entries: VcapEntry[] = [];
  for (const service of services) {
    const { name } = service.binding;
    const current = currentEntry(service);
    if (current === undefined) {
      findings.push(finding("BindingNotReady", `the binding ${name} has no credentials that can be read`));
    }
    const entry = current ?? before?.get(name);
    if (entry !== undefined) entries.push(entry);
  }
  return { entries, findings: findings.sort((a, b) => (a.message < b.message ? -1 : 1)) };
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
