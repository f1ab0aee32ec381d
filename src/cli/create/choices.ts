/** The choices for a new project. The first of each list is the default. */
export const CHOICES = {
  framework: ['hono', 'express', 'fastify', 'next', 'node'],
  storage: ['sqlite', 'memory', 'postgres', 'redis'],
  model: ['scripted', 'openai', 'anthropic', 'google'],
} as const

export type Choice = keyof typeof CHOICES

export type Choices = { readonly [Name in Choice]: (typeof CHOICES)[Name][number] } & {
  /** Whether users sign in. */
  readonly auth: boolean
  /** Whether it has a chat page. */
  readonly page: boolean
}

/** What a question says about each answer. */
export const ABOUT: { readonly [Name in Choice]: Readonly<Record<Choices[Name], string>> } = {
  framework: {
    hono: 'Hono',
    express: 'Express',
    fastify: 'Fastify',
    next: 'Next.js',
    node: 'node:http, without a framework',
  },
  storage: {
    sqlite: 'a file in the project',
    memory: 'this process: a restart loses all threads',
    postgres: 'a Postgres database',
    redis: 'a Redis server',
  },
  model: {
    scripted: 'a script in place of a model: needs no key and no network',
    openai: 'OpenAI',
    anthropic: 'Claude',
    google: 'Gemini',
  },
}

/** The package with the client of each database. */
export const CLIENTS: Readonly<Record<Choices['storage'], readonly string[]>> = {
  memory: [],
  sqlite: ['libsql'],
  postgres: ['pg'],
  redis: ['redis'],
}

/** The environment variable with the key of each provider. Without it, a script answers. */
export const KEYS: Readonly<Record<Choices['model'], string | undefined>> = {
  scripted: undefined,
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
}
