import { after, before, describe } from "node:test";
import { NotServed } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { installForeignKind } from "../../src/reconcile/objects.fixture.ts";
import { customResourceDefinitions } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import type { Family, Fields } from "../families/family.ts";
import { eventually } from "../support/eventually.ts";
import { Stories, target, together } from "./harness.ts";
import type { StoryBinding } from "./story-binding.ts";

/** Somebody else's kinds, whose objects know the id of what they stand for. */
const kindOf = ({ type: { group } }: Family, kind: string, plural: string): ResourceType => ({
  group,
  version: "v1alpha1",
  kind,
  plural,
  namespaced: false,
});

const INSTANCES: readonly (readonly [Family, ResourceType])[] = [btp, cloudFoundry].map(
  (family) => [family, kindOf(family, "ServiceInstance", "serviceinstances")] as const,
);
const APPS = kindOf(cloudFoundry, "App", "apps");
const TYPES = [...INSTANCES.map(([, type]) => type), APPS];

const skip = target.name !== "real" && "told without rights in test/reconcile: npm run test:cluster";

describe(`what bindings refer to, on the ${target.name} server`, { ...together, skip }, () => {
  // Before the stage is struck: hooks run in the order in which they are named.
  after(async () => {
    for (const { plural, group } of TYPES) {
      await stories.stage.kube.delete(customResourceDefinitions, { name: `${plural}.${group}` });
    }
  });
  const stories = new Stories("refer");
  before(async () => {
    for (const type of TYPES) await installForeignKind(stories.stage.kube, type);
  });

  /** An object of a kind that may be new to the server, with labels of its own. */
  const put = (type: ResourceType, name: string, atProvider: Fields): Promise<KubeObject> =>
    eventually(`${type.kind} to be served`, () =>
      stories.stage.kube
        .create<KubeObject>(type, {
          apiVersion: apiVersionOf(type),
          kind: type.kind,
          metadata: { name, labels: { of: name } },
          status: { atProvider },
        })
        .catch((error: unknown) => {
          if (error instanceof NotServed) return undefined;
          throw error;
        }),
    );

  /** A key for what is meant, however it is said, and that it lets somebody in. */
  const bind = async (binding: StoryBinding, more: Fields): Promise<void> => {
    const manifest = binding.manifest();
    const { forProvider, ...spec } = manifest.spec as { readonly forProvider: Fields };
    const { serviceInstanceId: _, serviceInstance: __, ...others } = forProvider;
    await binding.create({ ...manifest, spec: { ...spec, forProvider: { ...others, ...more } } });
    await binding.calm("the first key to be in use");
  };

  const selectorOf = (name: string): Fields => ({ matchLabels: { of: name } });

  for (const [family, type] of INSTANCES) {
    const own = { isUnmade: true, families: [family] } as const;
    stories.tell("named", "a service instance by the name of its object", own, async (binding) => {
      await put(type, binding.name, { id: binding.instanceId });
      await bind(binding, { serviceInstanceRef: { name: binding.name } });
    });
    stories.tell("selected", "a service instance by the labels of its object", own, async (binding) => {
      await put(type, binding.name, { id: binding.instanceId });
      await bind(binding, { serviceInstanceSelector: selectorOf(binding.name) });
    });
  }

  const ofApp = async (binding: StoryBinding, reference: Fields): Promise<void> => {
    const { id: guid } = stories.stage.standIns.cloudFoundry.sandbox.controls.putApp({ name: binding.name });
    await put(APPS, binding.name, { guid });
    await bind(binding, { type: "app", serviceInstance: binding.instanceId, ...reference });
  };
  const own = { isUnmade: true, families: [cloudFoundry] } as const;
  stories.tell("app-named", "an app by the name of its object", own, (binding) =>
    ofApp(binding, { appRef: { name: binding.name } }),
  );
  stories.tell("app-selected", "an app by the labels of its object", own, (binding) =>
    ofApp(binding, { appSelector: selectorOf(binding.name) }),
  );
});
