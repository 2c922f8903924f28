"""transformer.py: an encoder like nn.TransformerEncoder with norm_first, made of torch.ops.optimized. Load the
operations before it computes."""
import torch
from torch import nn
from torch.nn import functional


def gelu(x):
    return functional.gelu(x, approximate="tanh")


class Product(nn.Module):
    """y = x weight + bias. The weight is [inputs x outputs], the transpose of nn.Linear's: so it is what
    the operation takes, without a copy."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x):
        y = torch.ops.optimized.matmul(x.reshape(-1, self.weight.shape[0]), self.weight) + self.bias
        return y.view(*x.shape[:-1], self.weight.shape[1])


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return torch.ops.optimized.layernorm(x, self.weight, self.bias)


class Layer(nn.Module):
    def __init__(self, d_model, n_heads, attend):
        super().__init__()
        self.n_heads, self.attend = n_heads, attend
        self.norm1, self.norm2 = Norm(d_model), Norm(d_model)
        self.qkv, self.out = Product(d_model, 3 * d_model), Product(d_model, d_model)
        self.up, self.down = Product(d_model, 4 * d_model), Product(4 * d_model, d_model)

    def forward(self, x):
        batch, seq, width = x.shape
        heads = self.qkv(self.norm1(x)).view(batch, seq, 3, self.n_heads, width // self.n_heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4)  # each [batch x heads x seq x dim]
        x = x + self.out(self.attend(q, k, v).transpose(1, 2).reshape(batch, seq, width))
        return x + self.down(gelu(self.up(self.norm2(x))))


def flash_attention(q, k, v):
    return torch.ops.optimized.flash_attention(q, k, v)


class OptimizedTransformer(nn.Module):
    """Maps [batch x seq x d_model] to the same. sdpa: attention is torch's own, all else is as it was."""

    def __init__(self, d_model=768, n_heads=12, n_layers=6, sdpa=False):
        super().__init__()
        attend = functional.scaled_dot_product_attention if sdpa else flash_attention
        self.layers = nn.ModuleList(Layer(d_model, n_heads, attend) for _ in range(n_layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    @torch.no_grad()
    def copy_from(self, encoder):
        """Take the parameters of an nn.TransformerEncoder of the same sizes. @return self"""
        for own, layer in zip(self.layers, encoder.layers):
            attention = layer.self_attn
            own.qkv.weight.copy_(attention.in_proj_weight.t())
            own.qkv.bias.copy_(attention.in_proj_bias)
            for product, linear in ((own.out, attention.out_proj), (own.up, layer.linear1), (own.down, layer.linear2)):
                product.weight.copy_(linear.weight.t())
                product.bias.copy_(linear.bias)
            for norm, given in ((own.norm1, layer.norm1), (own.norm2, layer.norm2)):
                norm.weight.copy_(given.weight)
                norm.bias.copy_(given.bias)
        return self


def torch_encoder(d_model=768, n_heads=12, n_layers=6):
    """@return the nn.TransformerEncoder that an OptimizedTransformer can be a copy of"""
    layer = nn.TransformerEncoderLayer(
        d_model, n_heads, 4 * d_model, dropout=0.0, activation=gelu, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
