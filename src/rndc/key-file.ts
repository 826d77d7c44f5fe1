import { Redacted } from "../base/redacted.ts";
import { type ConfStatement, type ConfWord, parseStatements } from "./conf-statements.ts";
import { RndcKeyInvalid } from "./errors.ts";
import { type KeyParts, type ReadKey, type RndcKey, readRndcKey, secretText } from "./key.ts";

/** The file `rndc.key`: one key, as `rndc -k` and an `include` of named want it. Must not: quote it in an error. */
export function parseRndcKey(text: Redacted<string>): ReadKey {
  const statements = parseStatements(text.reveal());
  const [statement, second] = statements;
  if (!statement) throw new RndcKeyInvalid('there is no key: expected key "NAME" { algorithm …; secret "…"; };', 1);
  if (second) throw new RndcKeyInvalid("there is more than the one key", second.line);
  return keyFromStatement(statement);
}

export function printRndcKey(key: RndcKey): Redacted<string> {
  const secret = secretText(key).reveal();
  return new Redacted(`key "${key.name}" {\n\talgorithm ${key.algorithm};\n\tsecret "${secret}";\n};\n`);
}

/** `key "NAME" { algorithm …; secret "…"; };`, also where it stands in a larger configuration. */
export function keyFromStatement(statement: ConfStatement): ReadKey {
  const parts = keyParts(statement);
  try {
    return readRndcKey(parts);
  } catch (error) {
    throw error instanceof RndcKeyInvalid ? new RndcKeyInvalid(error.message, statement.line) : error;
  }
}

function keyParts({ parts, line }: ConfStatement): KeyParts {
  const [keyword, name, block, ...rest] = parts;
  if (keyword?.kind !== "word" || keyword.text.toLowerCase() !== "key")
    throw new RndcKeyInvalid("this is no key", line);
  if (name?.kind !== "word" || block?.kind !== "block" || rest.length > 0) {
    throw new RndcKeyInvalid("a key is a name and one block", line);
  }
  const fields = new Map<string, string>();
  for (const field of block.statements) {
    const [word, value] = fieldWords(field);
    const fieldName = word.text.toLowerCase();
    if (fieldName !== "algorithm" && fieldName !== "secret") {
      throw new RndcKeyInvalid("a key has an algorithm and a secret, and nothing else", word.line);
    }
    if (fields.has(fieldName)) throw new RndcKeyInvalid(`${fieldName} stands there twice`, word.line);
    fields.set(fieldName, value.text);
  }
  const algorithm = fields.get("algorithm");
  const secret = fields.get("secret");
  if (algorithm === undefined || secret === undefined) {
    throw new RndcKeyInvalid(`the key has no ${algorithm === undefined ? "algorithm" : "secret"}`, line);
  }
  return { name: name.text, algorithm, secret: new Redacted(secret) };
}

function fieldWords({ parts, line }: ConfStatement): readonly [ConfWord, ConfWord] {
  const [word, value, ...rest] = parts;
  if (word?.kind !== "word" || value?.kind !== "word" || rest.length > 0) {
    throw new RndcKeyInvalid("expected algorithm NAME; or secret TEXT; here", line);
  }
  // Outside of quotation marks named takes it for the end of the word.
  if (!value.isQuoted && value.text.includes("/")) {
    throw new RndcKeyInvalid("a value with a / must stand in quotation marks", line);
  }
  return [word, value];
}
