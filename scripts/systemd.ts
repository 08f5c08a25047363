/**
 * `deno task systemd`: writes the units in `scripts/systemd/`. The permission flags in them come from the
 * same table as everywhere (`shared/host/permissions.ts`), for the layout that docs/OPERATING.md sets up.
 */
import { daemonFlags, type DaemonKind, type DaemonScope } from "../shared/host/permissions.ts";

const layout = {
  deno: "/usr/local/bin/deno",
  source: "/opt/workspace-grid",
  state: "/var/lib/grid",
  /** Outlives the ship, like the tmux server whose socket stands in it. */
  runtime: "/run/grid-ship",
  cache: "/var/cache/grid",
} as const;

const bin = (...names: string[]) => names.map((name) => `/usr/bin/${name}`);

const scopes: Readonly<Record<DaemonKind, DaemonScope>> = {
  ship: {
    read: bin("git", "tmux", "script", "stty", "ln", "timeout"),
    write: [`${layout.state}/workspaces`, `${layout.state}/ship`],
    run: bin("git", "tmux", "script", "stty", "ln", "timeout"),
    net: ["127.0.0.1", "0.0.0.0"],
  },
  bridge: {
    read: bin("git", "timeout"),
    write: [`${layout.state}/bridge`],
    run: bin("git", "timeout"),
    net: "any",
  },
};

const flags: Readonly<Record<DaemonKind, readonly string[]>> = {
  ship: [
    `--grid-directory=${layout.state}/workspaces`,
    `--state-dir=${layout.state}/ship`,
    "--log-format=json",
  ],
  bridge: [`--data-dir=${layout.state}/bridge`, "--log-format=json"],
};

/** What holds for both: nothing but their own directories can be written, no privileges, no devices. */
const confinement = [
  "NoNewPrivileges=yes",
  "CapabilityBoundingSet=",
  "ProtectSystem=strict",
  "ProtectHome=yes",
  "PrivateDevices=yes",
  "ProtectClock=yes",
  "ProtectControlGroups=yes",
  "ProtectHostname=yes",
  "ProtectKernelLogs=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelTunables=yes",
  "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "LockPersonality=yes",
  "SystemCallArchitectures=native",
  "# No MemoryDenyWriteExecute: V8 compiles at run time.",
];

const particular: Readonly<Record<DaemonKind, readonly string[]>> = {
  ship: [
    "StateDirectory=grid grid/workspaces grid/ship",
    "RuntimeDirectory=grid-ship",
    "RuntimeDirectoryPreserve=yes",
    `Environment=TMUX_TMPDIR=${layout.runtime}`,
    "# Sessions outlive the ship, which finds them again: only the ship itself is stopped.",
    "KillMode=process",
    "# The confinement below is that of the sessions too: an agent has no sudo, for instance.",
  ],
  bridge: ["StateDirectory=grid grid/bridge", "PrivateTmp=yes"],
};

const descriptions: Readonly<Record<DaemonKind, string>> = {
  ship: "Workspace Grid ship",
  bridge: "Workspace Grid bridge",
};

/** The unit of a daemon, as text. */
export function unitText(kind: DaemonKind): string {
  const command = [
    `${layout.deno} run`,
    ...daemonFlags(kind, scopes[kind]),
    `${layout.source}/${kind}/main.ts`,
    ...flags[kind],
  ].map(escaped);
  return `# Made by \`deno task systemd\`; docs/OPERATING.md says how to install it.
[Unit]
Description=${descriptions[kind]}
After=network-online.target
Wants=network-online.target

[Service]
User=grid
Group=grid
UMask=0077
WorkingDirectory=${layout.state}
CacheDirectory=grid
Environment=DENO_DIR=${layout.cache}
Environment=PATH=/usr/bin:/bin
EnvironmentFile=-/etc/grid/${kind}.env
${particular[kind].join("\n")}
ExecStart=${command.join(" \\\n  ")}
Restart=on-failure
RestartSec=2
TimeoutStopSec=10
${confinement.join("\n")}

[Install]
WantedBy=multi-user.target
`;
}

/** `%` begins a specifier and `$` a variable in an ExecStart line (systemd.service(5)). */
const escaped = (word: string) => word.replaceAll("%", "%%").replaceAll("$", "$$$$");

/** Where a daemon's unit stands. */
export function unitFile(kind: DaemonKind): URL {
  return new URL(`systemd/grid-${kind}.service`, import.meta.url);
}

if (import.meta.main) {
  for (const kind of ["ship", "bridge"] as const) {
    await Deno.writeTextFile(unitFile(kind), unitText(kind));
  }
}
