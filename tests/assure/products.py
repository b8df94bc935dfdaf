# SPDX-License-Identifier: Apache-2.0
"""All products, by the names that --product takes."""
from files import (GridftpGet, GridftpGetTree, GridftpPut, GridftpPutTree, GridftpTcpGet, GridftpTcpPut, Trees,
                   TreesPull, TreesServer, Verify, VerifyChanged)
from streams import Exec, Forward, Pipe, PipeTcp, Rsh, RshFallback

PRODUCTS = {
    'pipe': Pipe, 'pipe-tcp': PipeTcp, 'exec': Exec, 'forward': Forward, 'rsh': Rsh, 'rsh-fallback': RshFallback,
    'trees': Trees, 'trees-server': TreesServer, 'trees-pull': TreesPull,
    'verify': Verify, 'verify-changed': VerifyChanged,
    'get': GridftpGet, 'put': GridftpPut, 'tcp-get': GridftpTcpGet, 'tcp-put': GridftpTcpPut,
    'get-tree': GridftpGetTree, 'put-tree': GridftpPutTree,
}
