/** A protocol that a server speaks, and where it begins. */
export interface Door {
  readonly name: string
  /** Below the mount, such as `/threads`. */
  readonly path: string
}

/** What a server serves, for its banner and for the page at its root. */
export interface ServerAbout {
  readonly agents: readonly string[]
  readonly doors: readonly Door[]
  readonly devtools: boolean
  /** Such as `memory` or `postgres`. */
  readonly storage: string
  /** Whether a restart keeps the threads. */
  readonly isDurable: boolean
  /** Who says which user sent a request. */
  readonly signIn: 'authenticate' | 'principal' | 'none'
  /** Whether clients see the text of an agent's error, or only an error id. */
  readonly errors: 'text' | 'id'
}

/** The path by which each protocol is recognized. */
const DOORS: readonly Door[] = [
  { name: 'Agent Streaming Protocol', path: '/threads' },
  { name: 'REST of LangGraph Platform', path: '/runs' },
  { name: 'A2A', path: '/a2a' },
  { name: 'AI SDK', path: '/chat' },
  { name: 'AG-UI', path: '/ag-ui' },
  { name: 'MCP', path: '/mcp' },
  { name: 'OpenAI', path: '/v1' },
  { name: 'control plane', path: '/v2' },
]

/** The protocols that have one of these paths, which begin with the path of the mount. */
export const doorsOf = (paths: readonly string[], mount: string): readonly Door[] =>
  DOORS.flatMap(({ name, path }) => {
    const found = paths.find((each) => each.endsWith(path))
    return found === undefined ? [] : [{ name, path: found.slice(mount.length) }]
  })

const SIGN_IN: Readonly<Record<ServerAbout['signIn'], string>> = {
  authenticate: 'authenticate',
  principal: 'principal of the adapter',
  none: 'none: anyone who can reach this server can read and change every thread',
}

/** Lines for a terminal: what is served below `url`, and how. */
export function bannerOf(about: ServerAbout, url: string): string {
  const { agents, doors, devtools, storage, isDurable, signIn, errors } = about
  return [
    `agentwire serves ${url}`,
    `  agents   ${agents.join(', ')}`,
    `  doors    ${doors.map(({ name, path }) => `${name} ${path}`).join(', ')}`,
    `  storage  ${storage}${isDurable ? '' : ': a restart loses all threads'}`,
    `  sign-in  ${SIGN_IN[signIn]}`,
    `  errors   clients see ${errors === 'text' ? 'the text of an agent’s error' : 'an error id'}`,
    ...(devtools ? [`  devtools ${url}/devtools`] : []),
  ].join('\n')
}
