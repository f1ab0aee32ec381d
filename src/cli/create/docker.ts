import type { Choices } from './choices.ts'
import type { Manager } from './install.ts'

/** An image with the build and the packages that it needs. */
export function dockerfileOf({ framework, storage }: Choices, manager: Manager): string {
  const isNext = framework === 'next'
  const built = isNext ? ['.next', 'next.config.mjs', 'next.mjs'] : ['dist']
  const start = isNext ? ['node', 'next.mjs', 'start'] : ['node', 'dist/server.js']
  // Only npm's lock file is for npm, which is what the image has.
  const [files, install] =
    manager === 'npm' ? ['package.json package-lock.json', 'npm ci'] : ['package.json', 'npm install']
  return `FROM node:22-slim AS build
WORKDIR /app
COPY ${files} ./
RUN ${install}
COPY . .
RUN npm run build && ${isNext ? 'rm -rf .next/cache && ' : ''}npm prune --omit=dev

FROM node:22-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
${storage === 'sqlite' ? SQLITE : ''}COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
${built.map((path) => `COPY --from=build ${isNext ? '--chown=node ' : ''}/app/${path} ./${path}\n`).join('')}USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \\
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/agents/ok').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ${JSON.stringify(start).replaceAll(',', ', ')}
`
}

const SQLITE = `ENV STORAGE_URL=file:/data/agents.db
RUN mkdir /data && chown node /data
VOLUME /data
`

export const dockerignoreOf = ({ framework, storage }: Choices): string =>
  [
    'node_modules',
    '.git',
    '.env',
    framework === 'next' ? '.next' : 'dist',
    ...(storage === 'sqlite' ? ['*.db', '*.db-*'] : []),
    '',
  ].join('\n')
