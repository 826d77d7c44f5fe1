import { firstDue } from "../ground/ground.ts";
import { bind, unbind } from "./broker.ts";
import { finishJob, startJob } from "./jobs.ts";
import { type Problem, problem } from "./problems.ts";
import type { Attempt, BindingRecord, InstanceRecord, JobRecord, LastOperation } from "./records.ts";
import type { CloudFoundryWorld } from "./world.ts";

/**
 * Creates and deletes on their way through a worker and the broker. A binding is there from the request on: `initial`
 * until the broker has answered, `in progress` while an asynchronous one is at work. A delete leaves no trace on the
 * binding until the broker has answered. Must not: run ahead of time, or leave a job without an end.
 */
export function catchUp(world: CloudFoundryWorld): void {
  for (let next = nextDue(world); next; next = nextDue(world)) step(world, next);
}

export function begin(world: CloudFoundryWorld, kind: Attempt["kind"], binding: BindingRecord): JobRecord {
  const job = startJob(world, kind, binding);
  const { id: bindingId, instanceId } = binding;
  const latencyMs = world.switches.jobQueueMs + (world.instances.get(instanceId)?.brokerLatencyMs ?? 0);
  const dueTick = world.tick() + latencyMs;
  world.attempts.set(job.id, { jobId: job.id, kind, bindingId, instanceId, stage: "broker", dueTick });
  return job;
}

/** Takes a binding away at once; the tick is the one at which it happened, which may be before anybody looked. */
export function removeBinding(world: CloudFoundryWorld, binding: BindingRecord, tick: number): void {
  world.bindings.remove(binding);
  world.accounts.release(binding.id);
  const { deletedListedMs } = world.switches;
  if (deletedListedMs > 0) world.bindings.bury(binding, tick + deletedListedMs);
}

const nextDue = (world: CloudFoundryWorld): Attempt | undefined => firstDue(world.attempts.values(), world.tick());

/** An attempt, and what it is about. */
interface Work {
  readonly attempt: Attempt;
  readonly instance: InstanceRecord;
  readonly binding: BindingRecord;
}

function step(world: CloudFoundryWorld, attempt: Attempt): void {
  const instance = world.instances.get(attempt.instanceId);
  const binding = world.bindings.get(attempt.bindingId);
  const { kind, stage } = attempt;
  // What is gone has been deleted, and cannot be made. An instance takes all its bindings with it.
  if (!instance || !binding) finish(world, attempt, kind === "create" ? lost(attempt) : undefined);
  else if (isOvertaken(attempt, binding)) finish(world, attempt, overtaken(attempt));
  else if (stage === "broker" && instance.broker === "asynchronous") goToWork(world, { attempt, instance, binding });
  else if (kind === "create") finishCreate(world, { attempt, instance, binding });
  else finishDelete(world, { attempt, instance, binding });
}

/** The broker said 202. */
function goToWork(world: CloudFoundryWorld, work: Work): void {
  const { attempt, instance } = work;
  setOperation(world, work, "in progress");
  const job = world.jobs.get(attempt.jobId);
  if (job) job.state = "POLLING";
  attempt.stage = "work";
  attempt.dueTick += instance.brokerWorkMs;
}

function finishCreate(world: CloudFoundryWorld, work: Work): void {
  const failure = bind(world, work.instance, work.binding.id);
  setOperation(world, work, failure === undefined ? "succeeded" : "failed", failure);
  finish(world, work.attempt, failure === undefined ? undefined : unable("bind", failure));
}

function finishDelete(world: CloudFoundryWorld, work: Work): void {
  const { attempt, instance, binding } = work;
  const failure = unbind(world, instance);
  if (failure === undefined) removeBinding(world, binding, attempt.dueTick);
  else setOperation(world, work, "failed", failure);
  finish(world, attempt, failure === undefined ? undefined : unable("unbind", failure));
}

/** A delete that a broker works at keeps a create from going on, and a second delete from beginning. */
const isOvertaken = ({ kind, stage }: Attempt, { lastOperation }: BindingRecord): boolean =>
  isDeleting(lastOperation) && (kind === "create" || stage === "broker");

export const isDeleting = ({ type, state }: LastOperation): boolean => type === "delete" && state === "in progress";

function setOperation(
  world: CloudFoundryWorld,
  { attempt: { kind: type, dueTick }, binding }: Work,
  state: LastOperation["state"],
  description: string | null = null,
): void {
  const at = world.wallTimeOf(dueTick);
  const createdAt = binding.lastOperation.type === type ? binding.lastOperation.createdAt : at;
  binding.lastOperation = { type, state, description, createdAt, updatedAt: at };
  binding.updatedAt = at;
}

function finish(world: CloudFoundryWorld, { jobId, dueTick }: Attempt, failure?: Problem): void {
  world.attempts.delete(jobId);
  finishJob(world, jobId, dueTick, failure);
}

const unable = (what: "bind" | "unbind", text: string): Problem =>
  problem("UnableToPerform", `${what} could not be completed: ${text}`);

const lost = ({ bindingId }: Attempt): Problem =>
  problem("ResourceNotFound", `The binding could not be found: ${bindingId}`);

const overtaken = ({ kind }: Attempt): Problem =>
  unable(kind === "create" ? "bind" : "unbind", "There is an operation in progress for the service binding.");
