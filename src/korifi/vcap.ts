import { Redacted } from "../base/redacted.ts";
import { compactJson, isObjectText, itemsOf, membersOf, objectText, stringIn } from "./json-text.ts";

/** One service of an application. */
export interface BoundService {
  readonly bindingName: string;
  readonly bindingDisplayName?: string;
  readonly instanceName: string;
  readonly instanceDisplayName: string;
  readonly label: string;
  readonly tags: readonly string[];
  /** A JSON object, as text. */
  readonly credentials: Redacted<string>;
}

/** What VCAP_SERVICES says of one binding. */
export interface VcapEntry {
  readonly bindingName: string;
  readonly label: string;
  readonly text: Redacted<string>;
}

export const vcapEntry = (service: BoundService): VcapEntry => ({
  bindingName: service.bindingName,
  label: service.label,
  text: new Redacted(
    objectText([
      ["label", JSON.stringify(service.label)],
      ["name", JSON.stringify(service.bindingDisplayName ?? service.instanceDisplayName)],
      ["tags", JSON.stringify(service.tags)],
      ["instance_guid", JSON.stringify(service.instanceName)],
      ["instance_name", JSON.stringify(service.instanceDisplayName)],
      ["binding_guid", JSON.stringify(service.bindingName)],
      ["binding_name", JSON.stringify(service.bindingDisplayName ?? null)],
      ["credentials", service.credentials.reveal()],
      ["syslog_drain_url", "null"],
      ["volume_mounts", "[]"],
    ]),
  ),
});

/** The value of VCAP_SERVICES: by label, in the order of the bindings' names, whatever order they come in. */
export function vcapServices(entries: readonly VcapEntry[]): Redacted<string> {
  const labels = new Map<string, string[]>();
  for (const { label, text } of [...entries].sort((a, b) => (a.bindingName < b.bindingName ? -1 : 1))) {
    labels.set(label, [...(labels.get(label) ?? []), text.reveal()]);
  }
  const members = [...labels].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Redacted(objectText(members.map(([label, texts]) => [label, `[${texts.join(",")}]`])));
}

/** The entries of a VCAP_SERVICES by the name of their binding; none where it cannot be read. */
export function entriesIn(text: Redacted<string>): ReadonlyMap<string, VcapEntry> {
  const found = new Map<string, VcapEntry>();
  const compact = compactJson(text.reveal()) ?? "null";
  for (const [label, list] of isObjectText(compact) ? membersOf(compact) : []) {
    for (const entry of list.startsWith("[") ? itemsOf(list).filter(isObjectText) : []) {
      const bindingName = stringIn(membersOf(entry).get("binding_guid"));
      if (bindingName !== undefined) found.set(bindingName, { bindingName, label, text: new Redacted(entry) });
    }
  }
  return found;
}
