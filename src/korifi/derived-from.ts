/**
 * What a Secret was made from, as it stands on it: names of Secrets of its namespace, each with the key that it held then
 * where Keyturn publishes it (`name@key`), sorted, with commas between them. It is closed: what those were made from is in
 * it, so whoever uses the one uses all of them. Undefined: there is no such key, or it cannot be told which.
 */
export type DerivedFrom = ReadonlyMap<string, string | undefined>;

export function readDerivedFrom(text: string): DerivedFrom {
  const entries = text.split(",").flatMap((entry): readonly Entry[] => {
    const at = entry.indexOf("@");
    if (entry === "" || at === 0) return [];
    return at < 0 ? [[entry, undefined]] : [[entry.slice(0, at), decoded(entry.slice(at + 1))]];
  });
  return united(entries);
}

export const derivedFromText = (entries: DerivedFrom): string =>
  Array.from(entries, ([name, keyId]) => (keyId === undefined ? name : `${name}@${encoded(keyId)}`))
    .sort()
    .join(",");

type Entry = readonly [name: string, keyId: string | undefined];

/** What is said of one name in two ways is not known. */
export function united(entries: Iterable<Entry>): DerivedFrom {
  const all = new Map<string, string | undefined>();
  for (const [name, keyId] of entries) {
    all.set(name, !all.has(name) || all.get(name) === keyId ? keyId : undefined);
  }
  return all;
}

interface Origin {
  readonly name: string;
  readonly keyId?: string;
  readonly derivedFrom?: string;
}

/** What is made from these Secrets. */
export const originsOf = (secrets: readonly Origin[]): DerivedFrom =>
  united(
    secrets.flatMap(({ name, keyId, derivedFrom = "" }) => [[name, keyId] as const, ...readDerivedFrom(derivedFrom)]),
  );

const encoded = (keyId: string): string => encodeURIComponent(keyId.toWellFormed());

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Somebody else has written it.
    return text;
  }
}
