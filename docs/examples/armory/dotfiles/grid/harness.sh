# Coding agents with the MCP endpoint of the workspace that this shell is in. Source it:
#   . ~/.config/grid/harness.sh
# Outside of a workspace the agents start as they always do.

grid_claude() {
  if [ -n "${GRID_MCP_URL:-}" ]; then
    claude --mcp-config "$HOME/.config/grid/claude-mcp.json" "$@"
  else
    claude "$@"
  fi
}

grid_codex() {
  if [ -n "${GRID_MCP_URL:-}" ]; then
    codex -c "mcp_servers.grid.url=\"$GRID_MCP_URL\"" \
      -c 'mcp_servers.grid.bearer_token_env_var="GRID_MCP_TOKEN"' "$@"
  else
    codex "$@"
  fi
}

grid_opencode() {
  if [ -n "${GRID_MCP_URL:-}" ]; then
    OPENCODE_CONFIG="$HOME/.config/grid/opencode.json" opencode "$@"
  else
    opencode "$@"
  fi
}

alias grid-claude=grid_claude grid-codex=grid_codex grid-opencode=grid_opencode
