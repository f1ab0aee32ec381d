import { type Choices, KEYS, type Manager } from './choices.ts'

/** What a project says of itself: how to develop it, how to run it in production, and what to change first. */
export function readmeOf(name: string, choices: Choices, manager: Manager): string {
  return `# ${name}

An agent behind ${FRAMEWORKS[choices.framework]}, made by \`agentwire create\`.

${[developmentOf(choices, manager), productionOf(name, choices, manager), firstOf(choices), filesOf(choices)].join('\n')}
The guides of agentwire are in \`node_modules/agentwire/docs\`: \`functions.md\` is about agents, \`testing.md\` about their tests, \`deploying.md\` about several instances.
`
}

const FRAMEWORKS: Readonly<Record<Choices['framework'], string>> = {
  hono: 'Hono',
  express: 'Express',
  fastify: 'Fastify',
  next: 'Next.js',
  node: 'node:http',
}

function developmentOf({ auth, model, page, framework }: Choices, manager: Manager): string {
  const key = KEYS[model]
  const copied = `\`.env\` has your settings and is not committed. In a new clone, begin with \`cp .env.example .env\`${auth ? ', and set `AGENT_USERS` in it' : ''}.`
  const answers =
    key === undefined
      ? 'A script answers in place of a model.'
      : `Put the provider's key into \`.env\` as \`${key}\`, and start again. Without it, a script answers in place of the model.`
  const signIn = auth ? ' Sign in with the name and the password of `AGENT_USERS` in `.env`.' : ''
  return `## Development

\`\`\`sh
${manager} install
${manager} run dev     # ${page ? 'the chat: http://localhost:3000, ' : ''}the agents: http://localhost:3000/agents
${manager} run test    # the agent, without a key or network access
${manager} run types
\`\`\`

The devtools at http://localhost:3000/agents/devtools show each thread and run, and call the agent.${signIn} ${framework === 'next' ? 'Next.js takes' : 'The server restarts for'} each change.

${answers} ${copied} \`npx agentwire doctor\` checks Node, the packages, the database and the port.
`
}

function productionOf(name: string, { auth, framework, model, storage }: Choices, manager: Manager): string {
  const key = KEYS[model]
  const variables = [
    ...(key === undefined ? [] : [key]),
    ...(auth ? ['AGENT_USERS'] : []),
    ...(storage === 'postgres' || storage === 'redis' ? ['STORAGE_URL'] : []),
  ]
  const options = [
    ...variables.map((variable) => `-e ${variable}=…`),
    ...(storage === 'sqlite' ? [`-v ${name}-data:/data`] : []),
  ]
  const kept: Readonly<Record<Choices['storage'], string>> = {
    memory: 'A restart loses all threads: see `storage.ts`.',
    sqlite: 'The threads are in a file, so run one instance. `STORAGE_URL` says where it is.',
    postgres: '`STORAGE_URL` names the database, which several instances can share.',
    redis: '`STORAGE_URL` names the Redis server, which several instances can share.',
  }
  return `## Production

\`\`\`sh
${manager} run build   # JavaScript in ${framework === 'next' ? '.next' : 'dist'}
${manager} start       # plain Node, without the devtools
\`\`\`

It listens on \`HOST\` (127.0.0.1) and \`PORT\` (3000), of the environment or of \`.env\`. ${kept[storage]}${auth ? '' : ' Anyone who reaches the server can call the agents: add authentication first.'}

The \`Dockerfile\` has the same build, and no \`.env\`:

\`\`\`sh
docker build -t ${name} .
docker run -p 3000:3000 ${options.map((option) => `${option} `).join('')}${name}
\`\`\`

\`npx agentwire deploy\` deploys the agent to a control plane. It does not upload \`.env\`: pass each variable that the agent needs as \`--secret NAME=VALUE\`.
`
}

function firstOf({ auth, model, page }: Choices): string {
  const steps = [
    ...(model === 'scripted'
      ? ['**The model.** `model.ts` says how to take one in place of the script.']
      : []),
    '**What it is.** The instructions in `assistant.ts`.',
    '**What it can do.** The tools in `tools.ts`: the mail and the search only pretend. `approve: true` asks the user before a tool runs.',
    auth
      ? '**Who may call it.** `auth.ts` reads names and passwords from `AGENT_USERS`: replace it with your sessions or tokens.'
      : '**Who may call it.** Everyone who reaches it: pass `authenticate` in `agents.ts`. The guide is `node_modules/agentwire/docs/users.md`.',
    '**Its test.** `agents.test.ts` runs the agent with the script of `offline.ts`: change the two with your tools.',
    ...(page ? ['**The page.** `page/chat.tsx` and `page/page.css`.'] : []),
  ]
  return `## What to change first

${steps.map((step, at) => `${at + 1}. ${step}`).join('\n')}
`
}

function filesOf({ framework, model, auth, page }: Choices): string {
  const isNext = framework === 'next'
  const rows = [
    ['`assistant.ts`, `tools.ts`', 'the agent'],
    [
      '`model.ts`, `offline.ts`',
      model === 'scripted' ? 'the script that answers' : 'the model, and the script without a key',
    ],
    [
      `\`agents.ts\`, \`${isNext ? 'app/agents/[[...path]]/route.ts' : 'server.ts'}\``,
      'the server of the agents, and where it is mounted',
    ],
    ['`storage.ts`', 'where threads are stored'],
    ...(auth ? [['`auth.ts`', 'who calls']] : []),
    ...(page ? [[isNext ? '`page/`, `app/`' : '`page/`, `page.ts`', 'the chat']] : []),
    ['`agents.test.ts`', 'the tests'],
    ['`langgraph.json`', 'the agents for `npx agentwire deploy`'],
    ...(isNext
      ? [['`next.mjs`', 'starts Next.js at `HOST` and `PORT`']]
      : [['`.env.development`', 'for `dev` alone: clients see the text of errors, and the devtools are on']]),
    ['`Dockerfile`, `.dockerignore`', 'an image for production'],
  ]
  return `## Files

| file | contents |
|---|---|
${rows.map(([file, contents]) => `| ${file} | ${contents} |`).join('\n')}
`
}
