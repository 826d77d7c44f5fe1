import type { KubeObject } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { serviceBindingType } from "../../reconcile/korifi/korifi-sources.ts";
import { textsIn } from "./credentials.ts";
import { isCredentials, isProjected } from "./judge.ts";
import { type Bound, bindingsIn, type Service, VCAP, vcapEntry } from "./objects.ts";
import type { AppWorld } from "./world.ts";

/** What must hold once everything has come to rest. */
export function judgeApps(world: AppWorld): void {
  const { judge } = world;
  const services = new Map(world.services().map((service) => [service.name, service]));
  const isWell = ({ name }: Service): boolean => !judge.isRefused(name);
  for (const service of services.values()) if (isWell(service)) judgeService(world, service);
  for (const bound of world.bindings()) {
    const service = services.get(bound.service);
    if (service && isWell(service)) judgeBinding(world, bound, service);
  }
  judgeVcap(world, (name) => {
    const service = services.get(name);
    return service && isWell(service) ? service : undefined;
  });
}

/** What its status names holds its credentials: the Secret that they come from, or what was made of that. */
function judgeService(world: AppWorld, { name, credentials, sourceName }: Service): void {
  const { judge } = world;
  const [secret, latest] = [world.secret(credentials ?? ""), judge.latest(name)];
  if (!secret || !latest) judge.accuse(`L1 the service ${name} gives out nothing`);
  else if (credentials !== sourceName && !isCredentials(secret, latest))
    judge.accuse(`L1 the service ${name} gives out other credentials than it has`);
}

/** It gives out the latest credentials, under both names, and has nothing left over. */
function judgeBinding(world: AppWorld, bound: Bound, service: Service): void {
  const { judge } = world;
  const { name, uid, mounts, envs } = bound;
  const secret = world.secret(mounts[0] ?? "");
  if (!secret || !isProjected(secret, judge.latest(service.name))) judge.accuse(`L1 the binding ${name} is behind`);
  if (mounts[0] !== mounts[1] || envs[0] !== envs[1]) judge.accuse(`L1 the binding ${name} names nothing twice`);
  if (envs[0] !== service.credentials) judge.accuse(`L1 the binding ${name} does not name its service's credentials`);
  const projections = world.stored(serviceBindingType).filter((one) => isProjectedBy(one, name));
  if (projections.length !== (bound.isKey ? 0 : 1)) judge.accuse(`L1 the binding ${name} is not projected once`);
  for (const { metadata } of world.stored(secretType).filter((one) => isOwnedBy(one, uid)))
    if (metadata.name !== mounts[0]) judge.accuse(`S4 the binding ${name} has a Secret left over: ${metadata.name}`);
}

const isProjectedBy = ({ spec }: KubeObject, bindingName: string): boolean =>
  (spec as { readonly service?: { readonly name?: string } }).service?.name === bindingName;

const isOwnedBy = ({ metadata }: KubeObject, uid: string): boolean =>
  (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

/** It speaks of every binding of the application, and of no other, each with the latest credentials. */
function judgeVcap(world: AppWorld, wellNamed: (service: string) => Service | undefined): void {
  const { judge } = world;
  const { VCAP_SERVICES: text } = textsIn(world.secret(VCAP) ?? NOTHING);
  const bound = world.bindings().filter(({ isKey }) => !isKey);
  if (text === undefined) {
    if (bound.some(({ service }) => wellNamed(service))) judge.accuse("L1 there is no VCAP_SERVICES");
    return;
  }
  const names = new Set(bindingsIn(text));
  for (const name of names)
    if (!bound.some((one) => one.name === name))
      judge.accuse(`L1 VCAP_SERVICES speaks of a binding that is gone: ${name}`);
  const entries = bound.flatMap((one) => {
    const [service, latest] = [wellNamed(one.service), judge.latest(one.service)];
    return service && latest ? [{ name: one.name, entry: vcapEntry(one, service, latest.text) }] : [];
  });
  for (const { name, entry } of entries)
    if (!text.includes(entry)) judge.accuse(`L1 VCAP_SERVICES is behind with ${name}`);
  const sorted = entries.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ entry }) => entry);
  const whole = sorted.length === 0 ? "{}" : `{"user-provided":[${sorted.join(",")}]}`;
  if (entries.length === bound.length && text !== whole) judge.accuse("L1 VCAP_SERVICES says more than it should");
}

const NOTHING: KubeObject = { apiVersion: "v1", kind: secretType.kind, metadata: { name: VCAP } };
