/** The version of Workspace Grid: ship, bridge and command line are one release. */
export const version = "0.1.0";
