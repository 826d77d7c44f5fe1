import { serviceBinding } from "../../../src/api/btp/service-binding.ts";
import type { KubeObject } from "../../../src/kube/objects.ts";
import type { ServerName } from "../../support/target.ts";
import { type CheckScene, type CheckWishes, type Found, NAMESPACE } from "../check-scene.ts";

/** A way in which an installation can be broken, and what is to be said of it. */
export interface BrokenSetUp {
  readonly name: string;
  /** Where this can be broken at all; everywhere when absent. */
  readonly on?: ServerName;
  /** Breaks it, for real. */
  readonly break?: (scene: CheckScene) => Promise<void>;
  /** How the check is called, where that is what is broken. */
  readonly called?: (scene: CheckScene) => Promise<CheckWishes>;
  readonly mend?: (scene: CheckScene) => Promise<void>;
  /** Of the finding that is asked for. */
  readonly found: {
    readonly group: string;
    readonly level?: Found["level"];
    readonly about: RegExp;
    readonly message: RegExp;
    readonly remedy: RegExp;
  };
}

/** The definition, and all that goes by its name, that stories are told of. */
export const BINDINGS = `${serviceBinding.plural}.${serviceBinding.group}`;

/** Deployment and Lease. */
export const OPERATOR = { namespace: NAMESPACE, name: "keyturn" };

export const isDeployment = ({ kind }: KubeObject): boolean => kind === "Deployment";
