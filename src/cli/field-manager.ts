/** Whose fields those are that a person writes with a command. */
export const FIELD_MANAGER = "keyturn-cli";
