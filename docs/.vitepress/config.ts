import { fileURLToPath } from 'node:url'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { descriptionOf, headOf } from './head.ts'
import { writeMarkdown } from './llms.ts'
import { markdown } from './markdown.ts'
import { homepage, read, repositoryUrl, version } from './package.ts'
import { renderForSearch, searchOptions, searchTerms } from './search.ts'
import { reference, sidebar } from './sidebar.ts'
import { accessibleSidebar } from './sidebar-item.ts'

/** The mark of the chat, which is the mark of all. */
const mark = `data:image/svg+xml,${encodeURIComponent(read('examples/chat/app/icon.svg').trim())}`

const socialLinks: DefaultTheme.SocialLink[] = [
  { icon: 'npm', link: 'https://www.npmjs.com/package/agentwire' },
  ...(repositoryUrl === undefined ? [] : [{ icon: 'github', link: repositoryUrl } as const]),
]

const description = 'Serve AI agents from the server you already have.'

/** The pages are at the paths that they have in the repository, so that links work on the site and in the files alike. */
export default defineConfig({
  title: 'agentwire',
  description,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: mark }]],
  srcDir: '..',
  srcExclude: ['README.md', 'AGENTS.md', 'skills/**', '.changeset/**', '.github/**', 'test/**', '**/.tmp/**'],
  rewrites: (path) =>
    path
      .replace('docs/site/', '')
      .replace(/(^|\/)README\.md$/, '$1index.md')
      .replace(/^docs\/reference\//, 'reference/'),
  cleanUrls: true,
  // test/site/links.ts looks at what was built, with anchors and after the rewrites.
  ignoreDeadLinks: true,
  markdown,
  ...(homepage !== undefined && { sitemap: { hostname: homepage } }),
  transformPageData: (page) => ({
    description: page.frontmatter.description ?? descriptionOf(page.filePath),
  }),
  transformHead: ({ pageData, title, description }) => headOf(pageData.relativePath, title, description),
  buildEnd({ outDir, pages, rewrites }) {
    const written = pages.map((source) => ({ source, path: rewrites.map[source] ?? source }))
    // The home page is a layout. The README says the same as a text.
    writeMarkdown(
      outDir,
      description,
      sidebar,
      written.map((page) => (page.path === 'index.md' ? { ...page, source: 'README.md' } : page)),
    )
  },
  vite: {
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    css: { postcss: {} },
    plugins: [accessibleSidebar()],
    // The index of the search is one file, loaded with the first search.
    build: { chunkSizeWarningLimit: 2_000 },
  },
  themeConfig: {
    logo: mark,
    search: {
      provider: 'local',
      options: { miniSearch: { options: searchTerms, searchOptions }, _render: renderForSearch },
    },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/docs/quick-start', activeMatch: '^/docs/' },
      { text: 'Examples', link: '/examples/', activeMatch: '^/examples/' },
      { text: 'API reference', link: '/reference/', activeMatch: '^/reference/' },
      {
        text: `v${version}`,
        items: [
          { text: 'Changelog', link: '/CHANGELOG' },
          { text: 'Upgrading', link: '/docs/upgrading' },
          { text: 'Roadmap', link: '/docs/roadmap' },
          { text: 'Contributing', link: '/CONTRIBUTING' },
        ],
      },
    ],
    socialLinks,
    notFound: {
      title: 'Page not found',
      quote:
        'The address may be misspelled, or the page has moved. The search at the top finds guides and exports by name.',
      linkText: 'Home page',
      linkLabel: 'Home page',
    },
    footer: { message: `agentwire v${version}, MIT license` },
    sidebar: { '/': sidebar, '/reference/': reference },
  },
})
