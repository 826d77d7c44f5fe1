import type { SourceId, SourceKind } from "./model.ts";

const KINDS: ReadonlySet<string> = new Set<SourceKind>(["secret", "configmap", "class"]);

export const isSourceId = (text: string): text is SourceId => {
  const [kind = "", name = "", ...rest] = text.split("/");
  return KINDS.has(kind) && name !== "" && rest.length === 0;
};

export function partsOf(source: SourceId): { readonly kind: SourceKind; readonly name: string } {
  const slash = source.indexOf("/");
  return { kind: source.slice(0, slash) as SourceKind, name: source.slice(slash + 1) };
}
