import { endOfString } from "./json-text.ts";

/**
 * Whether two compact JSON say the same: members in any order, texts however they are escaped, numbers by their value, to
 * the last digit. What is the same gets the same number, from the inside out, so that depth costs no stack and no time.
 */
export function isSameJson(a: string, b: string): boolean {
  if (a === b) return true;
  const known = new Map<string, number>();
  const numberOf = (form: string): number => {
    const number = known.get(form) ?? known.size;
    known.set(form, number);
    return number;
  };
  return numberOfJson(a, numberOf) === numberOfJson(b, numberOf);
}

type Numbering = (form: string) => number;

/** A list or an object that is not over yet: numbers of what is in it, by place, or by the number of the name. */
interface Open {
  readonly isObject: boolean;
  readonly parts: Map<number, number>;
  name: number | undefined;
}

function numberOfJson(compact: string, numberOf: Numbering): number | undefined {
  const open: Open[] = [];
  let last: number | undefined;
  const close = (form: string): void => {
    const within = open.at(-1);
    last = numberOf(form);
    if (within?.isObject && within.name === undefined) within.name = last;
    else if (within) {
      within.parts.set(within.name ?? within.parts.size, last);
      within.name = undefined;
    }
  };
  for (let at = 0; at < compact.length; ) {
    const end = endOfToken(compact, at);
    const token = compact.slice(at, end);
    at = end;
    if (token === "{" || token === "[") open.push({ isObject: token === "{", parts: new Map(), name: undefined });
    else if (token === "}" || token === "]") close(formOfParts(open.pop()));
    else if (token !== "," && token !== ":") close(formOf(token));
  }
  return last;
}

const MARKS = "{}[],:";

function endOfToken(text: string, start: number): number {
  const first = text[start] ?? "";
  if (first === '"') return endOfString(text, start);
  let end = start + 1;
  if (!MARKS.includes(first)) while (end < text.length && !MARKS.includes(text[end] ?? "")) end++;
  return end;
}

function formOfParts(closed: Open | undefined): string {
  const { isObject = false, parts = new Map<number, number>() } = closed ?? {};
  if (!isObject) return `[${[...parts.values()].join()}]`;
  const members = Array.from(parts, ([name, value]) => `${name}:${value}`);
  return `{${members.sort().join()}}`;
}

const NUMBER = /^(-?)([0-9]+)(?:[.]([0-9]+))?(?:[eE]([-+]?[0-9]+))?$/;

/** A text as it is read; of a number its digits without the zeros around them, and where its point is. */
function formOf(token: string): string {
  if (token.startsWith('"')) return JSON.stringify(JSON.parse(token));
  const [, sign, whole, fraction = "", exponent = "0"] = NUMBER.exec(token) ?? [];
  if (whole === undefined) return token;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  let length = digits.length;
  while (digits[length - 1] === "0") length--;
  const point = BigInt(exponent) + BigInt(digits.length - length - fraction.length);
  return length === 0 ? "0" : `${sign}${digits.slice(0, length)}e${point}`;
}
