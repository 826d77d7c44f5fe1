import type { WriteOptions } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { FINGERPRINT_KEY_NAME } from "../../reconcile/cluster-identity.ts";
import { podType } from "../../restart/workload-kinds.ts";
import { SECRET } from "../scene.ts";
import { unlessRefused } from "../unless-refused.ts";
import { OPERATOR_NAMESPACE } from "./assembly.ts";
import {
  encoded,
  NAMESPACE,
  OPT_IN,
  OTHER_SECRET,
  STATE,
  STOPPED,
  secretOf,
  TEMPLATE_ANNOTATIONS,
  WEB,
} from "./shop.ts";
import { type RestartWorld, templateWith } from "./world.ts";

type Act = (world: RestartWorld) => Promise<void>;

const BY_HAND: WriteOptions = { fieldManager: "kubectl-edit" };

const patchWeb = async (world: RestartWorld, body: object, options: WriteOptions = BY_HAND): Promise<void> => {
  await world.kube.patch(world.type, WEB, { type: "strategic", body }, options);
};

const annotateWeb =
  (annotations: Readonly<Record<string, string | null>>): Act =>
  (world) =>
    patchWeb(world, { metadata: { annotations } });

const writeSecret =
  (body: (world: RestartWorld) => object): Act =>
  async (world) => {
    await world.kube.patch(secretType, SECRET, { type: "merge", body: body(world) }, BY_HAND);
  };

/** Another value than all before it. */
const fresh = ({ stepCount }: RestartWorld): string => `at-${stepCount}`;

const putSecret = async (world: RestartWorld, password: string): Promise<void> => {
  if (!world.secret(SECRET.name)) await world.kube.create(secretType, secretOf(SECRET.name, password), BY_HAND);
};

const NO_TEMPLATE_ANNOTATIONS = Object.fromEntries(TEMPLATE_ANNOTATIONS.map((name) => [name, null]));

const revertTemplate: Act = (world) =>
  patchWeb(world, { spec: { template: { metadata: { annotations: NO_TEMPLATE_ANNOTATIONS } } } });

/** As kubectl does it: the pod template of the revision before, and the annotations that the workload had with it. */
const undo: Act = async (world) => {
  const [before, now] = world.judge.revisions.slice(-2);
  if (!before || !now || !world.web()) return;
  const body = [
    { op: "add", path: "/spec/template", value: before.template },
    { op: "add", path: "/metadata/annotations", value: before.annotations },
  ];
  await world.kube.patch(world.type, WEB, { type: "json", body }, { fieldManager: "kubectl-rollout" });
};

/** The pod template of the revision before, and nothing else: by a repository that is behind, say. */
const undoTemplate: Act = async (world) => {
  const before = world.judge.revisions.at(-2);
  if (!before || !world.web()) return;
  const body = [{ op: "add", path: "/spec/template", value: before.template }];
  await world.kube.patch(world.type, WEB, { type: "json", body }, { fieldManager: "somebody" });
};

/** The state of some other time, as somebody has exported it. */
const restoreState: Act = async (world) => {
  const state = world.judge.revisions[0]?.annotations[STATE];
  if (state !== undefined) await annotateWeb({ [STATE]: state })(world);
};

const scale =
  (replicas: number): Act =>
  (world) =>
    patchWeb(world, { spec: { replicas } });

const deleteWorkload: Act = async (world) => {
  await world.kube.delete(world.type, WEB);
};

/** Under another UID, with all that was written on the one before. */
const recreateWorkload: Act = async (world) => {
  const web = world.web();
  if (web) await deleteWorkload(world);
  await world.createWeb(web?.metadata.annotations ? { annotations: web.metadata.annotations } : {});
};

const useSecret = async (world: RestartWorld, secretName: string, image?: string): Promise<void> => {
  const web = world.web();
  if (web) await patchWeb(world, { spec: { template: templateWith(web, secretName, image) } });
};

const release: Act = async (world) => {
  const { uid = "", annotations } = world.web()?.metadata ?? {};
  if (annotations?.[STOPPED] === undefined) return;
  // What nobody has seen stopped is not seen to be let go either: then the count may go on as well.
  if (annotations[STATE]?.includes('"stopped":true')) world.judge.released(uid);
  else world.judge.countLost();
  await annotateWeb({ [STOPPED]: null })(world);
};

/** Whoever starts from now on makes another one. */
const loseKey: Act = async (world) => {
  world.judge.keyLost();
  await world.kube.delete(secretType, { namespace: OPERATOR_NAMESPACE, name: FINGERPRINT_KEY_NAME });
};

/** Somebody deletes a pod. */
const killPod: Act = async (world) => {
  const [pod] = world.pods();
  if (pod) await world.kube.delete(podType, { namespace: NAMESPACE, name: pod.metadata.name });
};

/** Everything a person, a script or a GitOps tool may do to what is restarted, and to what it is restarted for. */
const ACTS = {
  changeSecret: writeSecret((world) => ({ data: { password: encoded(fresh(world)) } })),
  changeOther: writeSecret((world) => ({ data: { note: encoded(fresh(world)) } })),
  loseEntry: writeSecret(() => ({ data: { password: null } })),
  labelSecret: writeSecret((world) => ({ metadata: { labels: { seen: fresh(world) } } })),
  changeBack: writeSecret(() => ({ data: { password: encoded("1") } })),
  loseSecret: async (world) => {
    await world.kube.delete(secretType, SECRET);
  },
  bringSecretBack: (world) => putSecret(world, "1"),
  bringAnotherBack: (world) => putSecret(world, fresh(world)),
  editTemplate: (world) => useSecret(world, world.web()?.spec.template.metadata.labels.secret ?? "", fresh(world)),
  useOther: (world) => useSecret(world, OTHER_SECRET),
  undo,
  undoTemplate,
  revertState: annotateWeb({ [STATE]: null }),
  revertTemplate,
  restoreState,
  optOut: annotateWeb({ [OPT_IN]: "false" }),
  optIn: annotateWeb({ [OPT_IN]: "true" }),
  scaleToZero: scale(0),
  scaleUp: scale(2),
  deleteWorkload,
  recreateWorkload,
  holdBack: annotateWeb({ [STOPPED]: "not now" }),
  release,
  killPod,
  loseKey,
  jam: async (world) => {
    world.isJammed = true;
  },
  unjam: async (world) => {
    world.isJammed = false;
  },
} as const satisfies Readonly<Record<string, Act>>;

export type RestartAct = keyof typeof ACTS;

/** What may come in between at any time. A lost key takes a start to be noticed, so it is a matter of stories. */
export const RESTART_ACTS = (Object.keys(ACTS) as readonly RestartAct[]).filter((act) => act !== "loseKey");

/** Does it, if it can be done now. */
export async function performRestartAct(world: RestartWorld, name: RestartAct): Promise<void> {
  world.trace(`      person: ${name}`);
  const perform: Act = ACTS[name];
  await world.act(() => unlessRefused(() => perform(world)));
}
