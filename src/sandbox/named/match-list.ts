import { BlockList, isIP } from "node:net";
import type { ConfBlock, ConfStatement } from "../../rndc/conf-statements.ts";
import { NamedFailure, RESULT } from "./named-failure.ts";

/** Who may do something: by the address they come from, or the key they sign with. */
type Matcher =
  | { readonly kind: "any" }
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "acl"; readonly name: string; readonly line: number }
  | { readonly kind: "addresses"; readonly list: BlockList };

export type MatchList = readonly Matcher[];

interface Client {
  readonly address: string;
  /** Of a signature that was verified. */
  readonly keyName?: string;
}

export const matchListFrom = (block: ConfBlock): MatchList => block.statements.map(matcherFrom);

/** named checks the names of lists and not those of keys: a key that is not there matches nobody. */
export function checkMatchList(list: MatchList, acls: ReadonlyMap<string, MatchList>): void {
  for (const matcher of list) {
    if (matcher.kind === "acl" && !acls.has(matcher.name)) {
      throw new NamedFailure(RESULT.FAILURE, `line ${matcher.line}: undefined ACL '${matcher.name}'`);
    }
  }
}

/** Lists that name each other in a circle match nobody. */
export function isMatch(
  list: MatchList,
  client: Client,
  acls: ReadonlyMap<string, MatchList>,
  seen: readonly string[] = [],
): boolean {
  return list.some((matcher) => {
    if (matcher.kind === "any") return true;
    if (matcher.kind === "none") return false;
    if (matcher.kind === "addresses") return matcher.list.check(client.address, familyOf(client.address));
    if (matcher.kind === "key") return client.keyName === matcher.name;
    if (seen.includes(matcher.name)) return false;
    return isMatch(acls.get(matcher.name) ?? [], client, acls, [...seen, matcher.name]);
  });
}

function matcherFrom({ parts, line }: ConfStatement): Matcher {
  const words = parts.map((part) => (part.kind === "word" ? part.text : "{"));
  const [first = "", second] = words;
  if (first === "key" && second !== undefined && words.length === 2) {
    return { kind: "key", name: second.toLowerCase() };
  }
  if (words.length !== 1 || first.startsWith("!") || first === "{") {
    throw new NamedFailure(RESULT.FAILURE, `line ${line}: the stand-in knows no such element of a list`);
  }
  if (first === "any" || first === "none") return { kind: first };
  if (first === "localhost") return { kind: "addresses", list: addresses("127.0.0.0/8") };
  const [address = ""] = first.split("/");
  return isIP(address) ? { kind: "addresses", list: addresses(first) } : { kind: "acl", name: first, line };
}

function addresses(text: string): BlockList {
  const [address = "", prefix] = text.split("/");
  const list = new BlockList();
  try {
    list.addSubnet(address, Number(prefix ?? (isIP(address) === 6 ? 128 : 32)), familyOf(address));
  } catch {
    throw new NamedFailure(RESULT.FAILURE, `'${text}' is no range of addresses`);
  }
  return list;
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");
