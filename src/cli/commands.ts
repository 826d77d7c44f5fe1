import { auditCommand } from "./audit-command.ts";
import { checkCommand } from "./check-command.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion-command.ts";
import { complianceCommand } from "./compliance-command.ts";
import { consumersCommand } from "./consumers-command.ts";
import { crdsCommand } from "./crds-command.ts";
import { credentialsCommand } from "./credentials-command.ts";
import { dashboardCommand } from "./dashboard-command.ts";
import { explainCommand } from "./explain-command.ts";
import { freezeCommand, unfreezeCommand } from "./freeze-command.ts";
import { importCommand } from "./import-command.ts";
import { manifestsCommand } from "./manifests-command.ts";
import { operatorCommand } from "./operator-command.ts";
import { rotateCommand } from "./rotate-command.ts";
import { sandboxCommand } from "./sandbox-command.ts";
import { statusCommand } from "./status-command.ts";
import { timelineCommand } from "./timeline-command.ts";
import { uninstallCommand } from "./uninstall-command.ts";
import { upCommand } from "./up-command.ts";
import { versionCommand } from "./version-command.ts";

/** Every command there is, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  upCommand,
  operatorCommand,
  sandboxCommand,
  dashboardCommand,
  statusCommand,
  explainCommand,
  consumersCommand,
  rotateCommand,
  credentialsCommand,
  freezeCommand,
  unfreezeCommand,
  timelineCommand,
  importCommand,
  auditCommand,
  complianceCommand,
  checkCommand,
  crdsCommand,
  manifestsCommand,
  uninstallCommand,
  completionCommand(() => commands),
  versionCommand,
];
