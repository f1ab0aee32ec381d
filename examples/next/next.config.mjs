/** Node loads these directly. A bundle would contain a second copy of each. */
export default { serverExternalPackages: ['agentwire', 'libsql', 'pg', 'redis'] }
