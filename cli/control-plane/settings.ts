import { parseCommandLine, portOf } from '../options.ts'
import { type Terminal, UsageError } from '../terminal.ts'

export const CONTROL_PLANE_USAGE = `agentwire control-plane  serves the API of deployments, and builds and starts them

  --port PORT             0 takes any free one; default: PORT of the environment, else 8080
  --host HOST             the address to listen on; anything but this machine needs API keys; default: HOST, else 127.0.0.1
  --base-path PATH        the prefix of every route, such as /api-host
  --storage URL           file:… or a path (SQLite), postgres://…, redis://…; default: STORAGE_URL of the environment, which is
                          the better place for a password, else the memory of this process
  --api-key [NAME:]KEY    who may call, once for each key; keys of one name see the same deployments; default: the list of
                          AGENTWIRE_API_KEYS, separated by commas, which is the better place, else one that is made and printed
  --secrets-key KEY       32 bytes in base64 that seal the secrets of deployments: openssl rand -base64 32; default: the list of
                          AGENTWIRE_SECRETS_KEY, whose first one seals and all of which open
  --show-secrets HOW      masked, plaintext or none, in answers; default: masked

  --deployer NAME         process, command or kubernetes; default: process
  --deployer-config FILE  command, kubernetes: the options of commandDeployer or kubernetesDeployer, as JSON
  --dir DIR               process: the folder of sources and builds; default: .agentwire
  --allow-uploads         process: RUNS CODE that clients upload, with the rights of this user
  --allow-repository URL  process: RUNS CODE of repositories whose URL begins like that, such as https://git.example/team/ or
                          file:///srv/agents/; may be given several times
  --public-host HOST      process: the address that deployments listen on; default: 127.0.0.1

  --json                  prints one line of JSON once it listens
  --help                  this text`

/** What a command line and an environment ask for. */
export interface ControlPlaneSettings {
  readonly port: number
  readonly hostname: string
  readonly basePath: string | undefined
  readonly storage: string
  /** The names of callers by their keys. */
  readonly keys: Readonly<Record<string, string>>
  /**
   * The key generated for this process if none was given: without a key, any page open in a browser of this
   * machine could send code.
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
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) return undefined
  if (positionals.length > 0)
    throw new UsageError(`agentwire control-plane takes options alone, and not “${positionals[0]}”.`)
  const hostname = values.host ?? (env.HOST || '127.0.0.1')
  const given = keysOf(values['api-key'] ?? listOf(env.AGENTWIRE_API_KEYS))
  const ownKey = Object.keys(given).length === 0 ? crypto.randomUUID() : undefined
  if (ownKey !== undefined && !isLoopback(hostname)) {
    throw new UsageError(
      `On ${hostname} everybody who reaches it could deploy code: give --api-key or AGENTWIRE_API_KEYS, or listen on 127.0.0.1.`,
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
    deployer: deployerOf(values),
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
}

const PROCESS_OPTIONS = ['dir', 'allow-uploads', 'allow-repository', 'public-host'] as const

function deployerOf(values: DeployerValues): DeployerSettings {
  const name = oneOf('--deployer', values.deployer ?? 'process', ['process', 'command', 'kubernetes'])
  return name === 'process' ? processOf(values) : configuredOf(name, values)
}

function configuredOf(name: ConfiguredSettings['name'], values: DeployerValues): ConfiguredSettings {
  const foreign = PROCESS_OPTIONS.find((option) => values[option] !== undefined)
  if (foreign !== undefined)
    throw new UsageError(`--${foreign} is for the deployer process, and not for ${name}.`)
  const config = values['deployer-config']
  if (config) return { name, config }
  throw new UsageError(`The deployer ${name} has its options in a file: --deployer-config FILE.`)
}

function processOf(values: DeployerValues): ProcessSettings {
  if (values['deployer-config'] !== undefined)
    throw new UsageError('--deployer-config is for the deployers command and kubernetes.')
  const allowUploads = values['allow-uploads'] ?? false
  const allowRepositories = values['allow-repository'] ?? []
  if (!allowUploads && allowRepositories.length === 0) {
    throw new UsageError(
      'The deployer process builds and runs what clients send, with the rights of this user. Say what it may run: --allow-uploads, --allow-repository URL, or both.',
    )
  }
  const { dir = '.agentwire', 'public-host': hostname = '127.0.0.1' } = values
  return { name: 'process', dir, allowUploads, allowRepositories, hostname }
}

/** `NAME:KEY`, or a key alone, which has the name `default`. */
function keysOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text, index) => {
      const [, name = 'default', key = ''] = /^(?:([^:]*):)?(.*)$/.exec(text.trim()) ?? []
      // The key itself is not shown.
      if (name === '' || key === '') throw new UsageError(`API key ${index + 1}: it takes KEY or NAME:KEY.`)
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
  throw new UsageError(`${option} takes one of ${allowed.join(', ')}, and not “${value}”.`)
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
