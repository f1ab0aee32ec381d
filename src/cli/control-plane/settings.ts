import { isLoopback } from '../../core/http/origins.ts'
import { parseCommandLine, portOf, type Terminal, UsageError } from '../terminal.ts'

export const CONTROL_PLANE_USAGE = `agentwire control-plane  serves the deployments API, and builds and runs deployments

  --port PORT             0 picks a free port; default: the environment variable PORT, or 8080
  --host HOST             the address to listen on; any but a loopback address requires API keys; default: HOST, or 127.0.0.1
  --base-path PATH        the prefix of every route, such as /api-host
  --storage URL           file:… or a path (SQLite), postgres://…, redis://…; default: the environment variable
                          STORAGE_URL, or the memory of this process. Use the variable if the URL has a password
  --api-key [NAME:]KEY    an API key that may call; repeatable; keys with the same name see the same deployments; default: the
                          comma-separated list in AGENTWIRE_API_KEYS (preferred), or a generated key, which is printed
  --secrets-key KEY       32 bytes in base64 that encrypt the secrets of deployments: openssl rand -base64 32; default: the list in
                          AGENTWIRE_SECRETS_KEY; the first key encrypts, all of them decrypt
  --show-secrets HOW      how responses show secrets: masked, plaintext or none; default: masked

  --deployer NAME         process, command or kubernetes; default: process
  --deployer-config FILE  command, kubernetes: the options of commandDeployer or kubernetesDeployer, as JSON
  --dir DIR               process: the folder for sources and builds; default: .agentwire
  --allow-uploads         process: RUNS CODE that clients upload, with the permissions of this user
  --allow-repository URL  process: RUNS CODE from repositories whose URL starts with this one, such as
                          https://git.example/team/ or file:///srv/agents/; repeatable
  --public-host HOST      process: the address that deployments listen on; default: 127.0.0.1
  --ports FIRST-LAST      process: the ports that deployments listen on, such as 4000-4099; default: any free port
  --agent-key KEY         process: a key that callers of deployments need; repeatable; default: the list in AGENTWIRE_AGENT_KEYS,
                          separated by commas, otherwise anyone who reaches a deployment can call it

  --json                  prints one line of JSON when the server is listening
  --help                  shows this text`

/** The settings from a command line and an environment. */
export interface ControlPlaneSettings {
  readonly port: number
  readonly hostname: string
  readonly basePath: string | undefined
  readonly storage: string
  /** Caller names by key. */
  readonly keys: Readonly<Record<string, string>>
  /**
   * The key generated for this process if none was given. Without a key, any page open in a browser on this
   * machine could deploy code.
   */
  readonly ownKey: string | undefined
  readonly secretsKeys: readonly string[]
  readonly showSecrets: 'masked' | 'plaintext' | 'none'
  readonly deployer: DeployerSettings
  readonly json: boolean
}

export type DeployerSettings = ProcessSettings | ConfiguredSettings

export interface ProcessSettings {
  readonly name: 'process'
  readonly dir: string
  readonly allowUploads: boolean
  readonly allowRepositories: readonly string[]
  readonly hostname: string
  readonly ports: readonly [first: number, last: number] | undefined
  /** The keys for calling deployments. Undefined: anyone may. */
  readonly agentKeys: readonly string[] | undefined
}

/** A deployer whose options are in a file. */
export interface ConfiguredSettings {
  readonly name: 'command' | 'kubernetes'
  readonly config: string
}

/** Undefined if the command line asks for help. Throws `UsageError`. */
export function readSettings(args: readonly string[], { env }: Terminal): ControlPlaneSettings | undefined {
  const { values, positionals } = parseCommandLine(args, {
    port: { type: 'string' },
    host: { type: 'string' },
    'base-path': { type: 'string' },
    storage: { type: 'string' },
    'api-key': { type: 'string', multiple: true },
    'secrets-key': { type: 'string', multiple: true },
    'show-secrets': { type: 'string' },
    deployer: { type: 'string' },
    'deployer-config': { type: 'string' },
    dir: { type: 'string' },
    'allow-uploads': { type: 'boolean' },
    'allow-repository': { type: 'string', multiple: true },
    'public-host': { type: 'string' },
    ports: { type: 'string' },
    'agent-key': { type: 'string', multiple: true },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) return undefined
  if (positionals.length > 0)
    throw new UsageError(`agentwire control-plane takes only options; remove “${positionals[0]}”.`)
  const hostname = values.host ?? (env.HOST || '127.0.0.1')
  const given = keysOf(values['api-key'] ?? listOf(env.AGENTWIRE_API_KEYS))
  const ownKey = Object.keys(given).length === 0 ? crypto.randomUUID() : undefined
  if (ownKey !== undefined && !isLoopback(hostname)) {
    throw new UsageError(
      `On ${hostname}, anyone who can reach this server could deploy code: set --api-key or AGENTWIRE_API_KEYS, or listen on 127.0.0.1.`,
    )
  }
  return {
    port: portOf(values.port ?? (env.PORT || '8080'), values.port === undefined ? 'PORT' : '--port'),
    hostname,
    basePath: values['base-path'],
    storage: values.storage ?? (env.STORAGE_URL || 'memory:'),
    keys: ownKey === undefined ? given : { [ownKey]: 'local' },
    ownKey,
    secretsKeys: values['secrets-key'] ?? listOf(env.AGENTWIRE_SECRETS_KEY),
    showSecrets: oneOf('--show-secrets', values['show-secrets'] ?? 'masked', ['masked', 'plaintext', 'none']),
    deployer: deployerOf(values, env),
    json: values.json ?? false,
  }
}

interface DeployerValues {
  readonly deployer?: string
  readonly 'deployer-config'?: string
  readonly dir?: string
  readonly 'allow-uploads'?: boolean
  readonly 'allow-repository'?: readonly string[]
  readonly 'public-host'?: string
  readonly ports?: string
  readonly 'agent-key'?: readonly string[]
}

const PROCESS_OPTIONS = [
  'dir',
  'allow-uploads',
  'allow-repository',
  'public-host',
  'ports',
  'agent-key',
] as const

function deployerOf(values: DeployerValues, env: Terminal['env']): DeployerSettings {
  const name = oneOf('--deployer', values.deployer ?? 'process', ['process', 'command', 'kubernetes'])
  return name === 'process' ? processOf(values, env) : configuredOf(name, values)
}

function configuredOf(name: ConfiguredSettings['name'], values: DeployerValues): ConfiguredSettings {
  const foreign = PROCESS_OPTIONS.find((option) => values[option] !== undefined)
  if (foreign !== undefined)
    throw new UsageError(`--${foreign} is an option of the process deployer, not of the ${name} deployer.`)
  const config = values['deployer-config']
  if (config) return { name, config }
  throw new UsageError(`The ${name} deployer reads its options from a file: pass --deployer-config FILE.`)
}

function processOf(values: DeployerValues, env: Terminal['env']): ProcessSettings {
  if (values['deployer-config'] !== undefined)
    throw new UsageError('--deployer-config is an option of the command and kubernetes deployers.')
  const allowUploads = values['allow-uploads'] ?? false
  const allowRepositories = values['allow-repository'] ?? []
  if (!allowUploads && allowRepositories.length === 0) {
    throw new UsageError(
      'The process deployer builds and runs what clients send, with the permissions of this user. Choose what it may run: --allow-uploads, --allow-repository URL, or both.',
    )
  }
  const { dir = '.agentwire', 'public-host': hostname = '127.0.0.1' } = values
  const agentKeys = values['agent-key'] ?? listOf(env.AGENTWIRE_AGENT_KEYS)
  return {
    name: 'process',
    dir,
    allowUploads,
    allowRepositories,
    hostname,
    ports: values.ports === undefined ? undefined : portsOf(values.ports),
    agentKeys: agentKeys.length > 0 ? agentKeys : undefined,
  }
}

function portsOf(text: string): readonly [number, number] {
  const [first, last] = text.split('-').map((port) => portOf(port, '--ports'))
  if (first !== undefined && last !== undefined && first > 0 && first <= last) return [first, last]
  throw new UsageError(`--ports must be the first and the last port, such as 4000-4099, not “${text}”.`)
}

/** `NAME:KEY`, or a key alone, whose name is `default`. */
function keysOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text, index) => {
      const [, name = 'default', key = ''] = /^(?:([^:]*):)?(.*)$/.exec(text.trim()) ?? []
      // The key itself is not shown.
      if (name === '' || key === '') throw new UsageError(`API key ${index + 1}: expected KEY or NAME:KEY.`)
      return [key, name]
    }),
  )
}

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

function oneOf<const T extends string>(option: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found) return found
  throw new UsageError(`${option} must be one of ${allowed.join(', ')}, not “${value}”.`)
}
