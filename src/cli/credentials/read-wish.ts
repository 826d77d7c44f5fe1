import { InvalidValue, UsageError } from "../../base/errors.ts";
import { isNamespaceName, isObjectName } from "../../base/object-names.ts";
import { Redacted } from "../../base/redacted.ts";
import { type Credentials, readCredentials } from "../../korifi/credentials.ts";
import type { Finding } from "../../korifi/finding.ts";
import type { Flags, World } from "../command.ts";
import { readChoice, readDuration } from "../flag-values.ts";
import { textIn } from "../input-file.ts";

/** What a call of `keyturn credentials set` asks for. Must not: let a word of the credentials into a message. */
export interface CredentialsWish {
  /** Undefined: that of the context. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly credentials: Credentials;
  readonly format: "text" | "json";
  readonly isDryRun: boolean;
  /** How long to wait until they are taken up; undefined: not at all. */
  readonly timeoutMs: number | undefined;
}

const USAGE = "keyturn credentials set INSTANCE -f FILE";

export async function readWish(flags: Flags, world: World): Promise<CredentialsWish> {
  const target = readTarget(flags);
  const format = readChoice(flags, "output", ["text", "json"]);
  const timeoutMs = readDuration(flags, "timeout");
  const isDryRun = flags.isOn("dry-run");
  const [file, second] = flags.texts("filename");
  if (file === undefined) throw new UsageError(`give the file with the credentials: ${USAGE}`);
  if (second !== undefined) throw new UsageError("give one file: it has all of the credentials");
  const credentials = credentialsIn(await textIn(file, world), file);
  return {
    ...target,
    credentials,
    format,
    isDryRun,
    timeoutMs: flags.isOn("wait") && !isDryRun ? timeoutMs : undefined,
  };
}

/** `NAME`, or `NAMESPACE/NAME` without `-n`. */
function readTarget(flags: Flags): Pick<CredentialsWish, "namespace" | "name"> {
  const [what, text] = flags.words;
  if (what !== "set") throw new UsageError(`what of them? ${USAGE}`);
  if (text === undefined) throw new UsageError(`give the name of a CFServiceInstance: ${USAGE}`);
  const parts = text.split("/");
  const [name = "", namespace] = parts.toReversed();
  if (parts.length > 2 || !isObjectName(name) || !isNamespaceName(namespace ?? "x")) {
    throw new UsageError(`"${text}" cannot be a name in Kubernetes: lower-case letters, digits, dots and dashes`);
  }
  const said = flags.text("namespace");
  if (namespace !== undefined && said !== undefined && namespace !== said) {
    throw new UsageError(`"${text}" is in namespace ${namespace}, and -n says ${said}`);
  }
  return { namespace: namespace ?? said, name };
}

function credentialsIn(text: string, file: string): Credentials {
  // What is piped in has been decoded already. Better refused than with another password in it.
  if (file === "-" && text.includes("\uFFFD")) throw new InvalidValue(`${file}: is not text in UTF-8`);
  const read = readCredentials(new Redacted(text.replace(/^\uFEFF/, "")));
  if (read.kind === "refused") throw new InvalidValue(`${file}: ${read.findings.map(findingText).join("; ")}`);
  return read.credentials;
}

export const findingText = ({ reason, message }: Finding): string => `${reason}: ${message}`;
