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
