import { RndcKeyInvalid } from "./errors.ts";

/**
 * The grammar that all of BIND's files share: a statement is words and blocks up to a semicolon, a block is statements in
 * braces; comments are `//`, `#` and C comments. Must not: know what a statement means, quote a word in an error (it may be
 * a secret), or take long over any input.
 */
export interface ConfWord {
  readonly kind: "word";
  readonly text: string;
  readonly isQuoted: boolean;
  readonly line: number;
}

export interface ConfBlock {
  readonly kind: "block";
  readonly statements: readonly ConfStatement[];
  readonly line: number;
}

export type ConfPart = ConfWord | ConfBlock;

export interface ConfStatement {
  readonly parts: readonly ConfPart[];
  readonly line: number;
}

type Token = ConfWord | { readonly kind: "{" | "}" | ";" | "end"; readonly line: number };

const MAX_DEPTH = 16;
const LARGEST_TEXT = 65_536;

export function parseStatements(text: string): readonly ConfStatement[] {
  if (text.length > LARGEST_TEXT) throw new RndcKeyInvalid("the text is larger than any that is meant");
  const tokens = tokensOf(text);
  return statementsUntil("end", tokens, 0);
}

function statementsUntil(end: "end" | "}", tokens: Iterator<Token, Token>, depth: number): readonly ConfStatement[] {
  const statements: ConfStatement[] = [];
  for (let token = tokens.next().value; token.kind !== end; token = tokens.next().value) {
    statements.push(statementFrom(token, tokens, depth));
  }
  return statements;
}

function statementFrom(first: Token, tokens: Iterator<Token, Token>, depth: number): ConfStatement {
  const parts: ConfPart[] = [];
  let token = first;
  for (; token.kind !== ";"; token = tokens.next().value) {
    const { kind, line } = token;
    if (kind === "word") parts.push(token);
    else if (kind === "{") parts.push(blockFrom(line, tokens, depth + 1));
    else throw new RndcKeyInvalid(kind === "}" ? "a } where a ; must stand" : "a ; is missing at the end", line);
  }
  if (parts.length === 0) throw new RndcKeyInvalid("a ; that ends nothing", token.line);
  return { parts, line: first.line };
}

function blockFrom(line: number, tokens: Iterator<Token, Token>, depth: number): ConfBlock {
  if (depth > MAX_DEPTH) throw new RndcKeyInvalid(`blocks within blocks, deeper than ${MAX_DEPTH}`, line);
  return { kind: "block", statements: statementsUntil("}", tokens, depth), line };
}

/** White space and comments, a quoted word, a sign, or a word up to any of them. */
const SHAPES =
  /([ \t\r\n]+|\/\/[^\n]*|#[^\n]*|\/\*.*?\*\/)|"((?:[^"\\]|\\.)*)"|([{};])|((?:[^ \t\r\n{};"#/]|\/(?![/*]))+)/sy;

function* tokensOf(text: string): Generator<Token, Token> {
  let line = 1;
  let at = 0;
  while (at < text.length) {
    SHAPES.lastIndex = at;
    const match = SHAPES.exec(text);
    if (!match) throw new RndcKeyInvalid("a quotation mark or a comment without its end", line);
    const [all, , quoted, sign, bare] = match;
    if (sign !== undefined) yield { kind: sign as "{" | "}" | ";", line };
    else if (bare !== undefined) yield { kind: "word", text: bare, isQuoted: false, line };
    else if (quoted !== undefined) {
      yield { kind: "word", text: quoted.replace(/\\(.)/gs, "$1"), isQuoted: true, line };
    }
    for (const character of all) if (character === "\n") line++;
    at += all.length;
  }
  return { kind: "end", line };
}
