import { spend, strikes } from "../controls/settings.ts";
import { jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import { type Call, linker, mayRead } from "./call.ts";
import { errorList, notFound, type Problem, Refusal } from "./problems.ts";
import type { BindingRecord, JobRecord } from "./records.ts";
import { timestamp } from "./rendering.ts";
import type { CloudFoundryWorld } from "./world.ts";

/** A client that never looks must not fill the memory; the first finished ones go early. */
const MOST_JOBS = 10_000;

export function startJob(world: CloudFoundryWorld, kind: "create" | "delete", binding: BindingRecord): JobRecord {
  forgetTheOld(world);
  const resource = binding.type === "key" ? "service_keys" : "service_bindings";
  const now = world.now();
  const job: JobRecord = {
    id: world.uuid(),
    operation: `${resource}.${kind}`,
    bindingId: binding.id,
    createdAt: now,
    state: "PROCESSING",
    updatedAt: now,
  };
  world.jobs.set(job.id, job);
  return job;
}

export function finishJob(world: CloudFoundryWorld, id: string, tick: number, failure?: Problem): void {
  const job = world.jobs.get(id);
  if (!job) return;
  job.state = failure ? "FAILED" : "COMPLETE";
  job.updatedAt = world.wallTimeOf(tick);
  job.finishedTick = tick;
  if (failure) job.problem = failure;
}

function forgetTheOld(world: CloudFoundryWorld): void {
  for (const job of world.jobs.values()) {
    if (!isForgotten(world, job) && world.jobs.size < MOST_JOBS) break;
    if (job.finishedTick !== undefined) world.jobs.delete(job.id);
  }
}

const isForgotten = (world: CloudFoundryWorld, { finishedTick }: JobRecord): boolean =>
  finishedTick !== undefined && finishedTick + world.switches.jobMemoryMs <= world.tick();

export function getJob(call: Call): SandboxResponse {
  const { world, ids } = call;
  const { jobLookFailures } = world.switches;
  if (strikes(jobLookFailures)) {
    world.switches = { ...world.switches, jobLookFailures: spend(jobLookFailures) };
    throw new Refusal("UnknownError", "An unknown error occurred.");
  }
  const job = world.jobs.get(ids[0] ?? "");
  if (!job || !mayRead(call) || isForgotten(world, job)) throw notFound("Job");
  return jsonAnswer(200, renderJob(call, job));
}

function renderJob(call: Call, job: JobRecord) {
  const link = linker(call);
  return {
    guid: job.id,
    created_at: timestamp(job.createdAt),
    updated_at: timestamp(job.updatedAt),
    operation: job.operation,
    state: job.state,
    errors: job.problem ? errorList(job.problem) : [],
    warnings: [],
    links: {
      self: link(`/v3/jobs/${job.id}`),
      // Before the job is done, too: this is how a client learns what it has made.
      ...(call.world.bindings.get(job.bindingId) && {
        service_credential_binding: link(`/v3/service_credential_bindings/${job.bindingId}`),
      }),
    },
  };
}

export const accepted = (call: Call, { id }: JobRecord): SandboxResponse => ({
  status: 202,
  headers: { location: linker(call)(`/v3/jobs/${id}`).href },
  body: "",
});
