import { Buffer } from "node:buffer";
import { KEY_NAME_FIELD, SECRET_FIELD } from "../api/bind/names.ts";
import { Redacted } from "../base/redacted.ts";
import { RndcKeyInvalid } from "../rndc/errors.ts";
import { type ReadKey, type RndcKey, readRndcKey, secretText } from "../rndc/key.ts";
import { parseRndcKey, printRndcKey } from "../rndc/key-file.ts";

/**
 * A key as the fields of a Secret: `key-name`, `algorithm` and `secret` for whoever wants them one by one, and `rndc.key`
 * for named and rndc. Must not: let a value into an error.
 */
const KEY_FILE_FIELD = "rndc.key";
const ALGORITHM_FIELD = "algorithm";

export type SecretValues = Redacted<Readonly<Record<string, string>>>;

export const keyFields = (key: RndcKey): Redacted<Readonly<Record<string, string>>> =>
  new Redacted({
    [KEY_NAME_FIELD]: key.name,
    [ALGORITHM_FIELD]: key.algorithm,
    [SECRET_FIELD]: secretText(key).reveal(),
    [KEY_FILE_FIELD]: printRndcKey(key).reveal(),
  });

interface FieldNames {
  readonly keyNameKey?: string;
  readonly secretKey?: string;
  /** Where the Secret does not say. */
  readonly algorithm?: string;
}

/**
 * The key in the data of a Secret, whose values are in base64. The file goes before the single fields; where both are
 * there they must say the same. Throws `RndcKeyInvalid`.
 */
export function readKeyFields(data: SecretValues, names: FieldNames = {}): ReadKey {
  const { keyNameKey = KEY_NAME_FIELD, secretKey = SECRET_FIELD } = names;
  const text = (field: string): string | undefined => {
    const value = data.reveal()[field];
    return value === undefined ? undefined : Buffer.from(value, "base64").toString();
  };
  const file = text(KEY_FILE_FIELD);
  const [name, algorithm, secret] = [text(keyNameKey), text(ALGORITHM_FIELD), text(secretKey)];
  if (file === undefined) {
    const missing = [name === undefined && keyNameKey, secret === undefined && secretKey].filter(Boolean);
    if (name === undefined || secret === undefined) {
      throw new RndcKeyInvalid(`there is neither ${KEY_FILE_FIELD} nor ${missing.join(" nor ")}`);
    }
    return readRndcKey({
      name: name.trim(),
      algorithm: (algorithm ?? names.algorithm ?? "hmac-sha256").trim(),
      secret: new Redacted(secret),
    });
  }
  const read = parseRndcKey(new Redacted(file));
  const saysElse = (said: string | undefined, is: string): boolean => said !== undefined && said.trim() !== is;
  const differing = [
    saysElse(name, read.key.name) && keyNameKey,
    saysElse(algorithm?.toLowerCase(), read.key.algorithm) && ALGORITHM_FIELD,
    saysElse(secret, secretText(read.key).reveal()) && secretKey,
  ].filter(Boolean);
  if (differing.length > 0) {
    throw new RndcKeyInvalid(`${KEY_FILE_FIELD} has another key than ${differing.join(" and ")}`);
  }
  return read;
}
