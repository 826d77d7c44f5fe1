/** Who every caller is: there is one token, and whoever has it may do everything. */
export const SOLE_USER = { username: "keyturn-admin", groups: ["system:masters", "system:authenticated"] };
