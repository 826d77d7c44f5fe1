import { isRecord, textOf } from "../rest/wire.ts";
import { garbled, saysNotFound } from "./answer.ts";
import { isGuid } from "./binding.ts";
import type { Call, CloudFoundryClient } from "./client.ts";

export interface Job {
  readonly state: "under way" | "complete" | "failed";
  /** Told while the job is still under way, by foundations that tell it at all. */
  readonly keyId: string | undefined;
}

/** How far a job is; undefined when it is not known any more, which happens to all of them in time. */
export async function readJob(
  client: CloudFoundryClient,
  jobId: string,
  signal: AbortSignal,
): Promise<Job | undefined> {
  const call: Call = { method: "GET", path: `/v3/jobs/${jobId}`, purpose: "read" };
  const answer = await client.call(call, signal);
  if (saysNotFound(answer)) return undefined;
  if (answer.status !== 200) throw client.refusal(answer, call);
  const { state, links } = answer.body?.reveal() ?? {};
  const link = isRecord(links) ? links.service_credential_binding : undefined;
  return { state: decodeState(state), keyId: lastGuid(isRecord(link) ? textOf(link.href) : undefined, KEY_PATH) };
}

function decodeState(state: unknown): Job["state"] {
  switch (state) {
    case "PROCESSING":
    case "POLLING":
      return "under way";
    case "COMPLETE":
      return "complete";
    case "FAILED":
      return "failed";
    default:
      throw garbled();
  }
}

/** The job that an accepted request is answered with. Only its id counts: requests go to the API that we know. */
export const jobIdIn = (headers: Readonly<Record<string, string>>): string | undefined =>
  lastGuid(headers.location, JOB_PATH);

const JOB_PATH = /\/v3\/jobs\/([^/]+)$/;
const KEY_PATH = /\/v3\/service_credential_bindings\/([^/]+)$/;

function lastGuid(href: string | undefined, path: RegExp): string | undefined {
  const [, id] = path.exec(URL.parse(href ?? "", "https://cloud-foundry.invalid/")?.pathname ?? "") ?? [];
  return id !== undefined && isGuid(id) ? id : undefined;
}
