import { secrets } from "../../conformance/kinds.ts";
import { btp } from "../../families/btp.ts";
import { cloudFoundry } from "../../families/cloud-foundry.ts";
import { NAMESPACE } from "../check-scene.ts";
import type { BrokenSetUp } from "./broken-set-up.ts";

export const configurations: readonly BrokenSetUp[] = [
  {
    name: "the Secret of a ProviderConfig is missing",
    break: (scene) => scene.remove(secrets, { namespace: NAMESPACE, name: "main-btp" }),
    mend: (scene) => scene.configure(btp, "main"),
    found: {
      group: "configurations",
      level: "problem",
      about: /^ProviderConfig\.account\.btp.* main$/,
      message: /there is no Secret keyturn-check\/main-btp/,
      remedy: /create or complete/,
    },
  },
  {
    name: "the Secret of a ProviderConfig is not complete",
    break: (scene) => scene.configure(btp, "main", { clientid: "" }),
    mend: (scene) => scene.configure(btp, "main"),
    found: {
      group: "configurations",
      level: "problem",
      about: /main$/,
      message: /the key clientid is missing or empty/,
      remedy: /create or complete/,
    },
  },
  {
    name: "the address of a Service Manager is no URL",
    break: (scene) => scene.configure(btp, "main", { sm_url: "service-manager" }),
    mend: (scene) => scene.configure(btp, "main"),
    found: {
      group: "configurations",
      level: "problem",
      about: /main$/,
      message: /sm_url is not a URL/,
      remedy: /create or complete/,
    },
  },
  {
    name: "the Service Manager does not accept the client secret",
    break: (scene) => scene.configure(btp, "main", { clientsecret: "wrong" }),
    mend: (scene) => scene.configure(btp, "main"),
    found: {
      group: "configurations",
      level: "problem",
      about: /main$/,
      message: /does not accept the Service Manager credentials/,
      remedy: /credentials into its Secret/,
    },
  },
  {
    name: "Cloud Foundry does not accept the password",
    break: (scene) => scene.configure(cloudFoundry, "main", { password: "wrong" }),
    mend: (scene) => scene.configure(cloudFoundry, "main"),
    found: {
      group: "configurations",
      level: "problem",
      about: /^ProviderConfig\.cloudfoundry.* main$/,
      message: /does not accept the Cloud Foundry credentials/,
      remedy: /credentials into its Secret/,
    },
  },
  {
    name: "nobody listens at the address of a Service Manager",
    break: (scene) => scene.configure(btp, "main", { url: "http://127.0.0.1:1", tokenurl: "http://127.0.0.1:1" }),
    mend: (scene) => scene.configure(btp, "main"),
    found: {
      group: "configurations",
      level: "problem",
      about: /main$/,
      message: /cannot be reached at 127\.0\.0\.1:1$/,
      remedy: /address is right/,
    },
  },
  {
    name: "the Service Manager is down",
    break: async (scene) => scene.standIns[btp.standIn]?.set({ outage: "unavailable" }),
    mend: async (scene) => scene.standIns[btp.standIn]?.allIsWell(),
    found: {
      group: "configurations",
      level: "problem",
      about: /main$/,
      message: /cannot serve now/,
      remedy: /address is right/,
    },
  },
];
