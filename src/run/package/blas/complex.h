
/* Routines of complex numbers have no kernels. Programs load that link them and never call them,
 * such as LAPACK for real numbers. The symbols are weak, so that another library may have them. */
static void teml_absent(const char *name)
{
    fprintf(stderr, "BLAS: `%s` is not in this library, which has no complex numbers\n", name);
    abort();
}

#define TEML_ABSENT(name) \
    __attribute__((weak)) void name(void); \
    void name(void) { teml_absent(#name); }

TEML_ABSENT(caxpy_) TEML_ABSENT(cblas_caxpy) TEML_ABSENT(cblas_ccopy)
TEML_ABSENT(cblas_cdotc_sub) TEML_ABSENT(cblas_cdotu_sub) TEML_ABSENT(cblas_cgbmv)
TEML_ABSENT(cblas_cgemm) TEML_ABSENT(cblas_cgemv) TEML_ABSENT(cblas_cgerc)
TEML_ABSENT(cblas_cgeru) TEML_ABSENT(cblas_chbmv) TEML_ABSENT(cblas_chemm)
TEML_ABSENT(cblas_chemv) TEML_ABSENT(cblas_cher) TEML_ABSENT(cblas_cher2)
TEML_ABSENT(cblas_cher2k) TEML_ABSENT(cblas_cherk) TEML_ABSENT(cblas_chpmv)
TEML_ABSENT(cblas_chpr) TEML_ABSENT(cblas_chpr2) TEML_ABSENT(cblas_crotg)
TEML_ABSENT(cblas_cscal) TEML_ABSENT(cblas_csrot) TEML_ABSENT(cblas_csscal)
TEML_ABSENT(cblas_cswap) TEML_ABSENT(cblas_csymm) TEML_ABSENT(cblas_csyr2k)
TEML_ABSENT(cblas_csyrk) TEML_ABSENT(cblas_ctbmv) TEML_ABSENT(cblas_ctbsv)
TEML_ABSENT(cblas_ctpmv) TEML_ABSENT(cblas_ctpsv) TEML_ABSENT(cblas_ctrmm)
TEML_ABSENT(cblas_ctrmv) TEML_ABSENT(cblas_ctrsm) TEML_ABSENT(cblas_ctrsv)
TEML_ABSENT(cblas_icamax) TEML_ABSENT(cblas_izamax) TEML_ABSENT(cblas_zaxpy)
TEML_ABSENT(cblas_zcopy) TEML_ABSENT(cblas_zdotc_sub) TEML_ABSENT(cblas_zdotu_sub)
TEML_ABSENT(cblas_zdrot) TEML_ABSENT(cblas_zdscal) TEML_ABSENT(cblas_zgbmv)
TEML_ABSENT(cblas_zgemm) TEML_ABSENT(cblas_zgemv) TEML_ABSENT(cblas_zgerc)
TEML_ABSENT(cblas_zgeru) TEML_ABSENT(cblas_zhbmv) TEML_ABSENT(cblas_zhemm)
TEML_ABSENT(cblas_zhemv) TEML_ABSENT(cblas_zher) TEML_ABSENT(cblas_zher2)
TEML_ABSENT(cblas_zher2k) TEML_ABSENT(cblas_zherk) TEML_ABSENT(cblas_zhpmv)
TEML_ABSENT(cblas_zhpr) TEML_ABSENT(cblas_zhpr2) TEML_ABSENT(cblas_zrotg)
TEML_ABSENT(cblas_zscal) TEML_ABSENT(cblas_zswap) TEML_ABSENT(cblas_zsymm)
TEML_ABSENT(cblas_zsyr2k) TEML_ABSENT(cblas_zsyrk) TEML_ABSENT(cblas_ztbmv)
TEML_ABSENT(cblas_ztbsv) TEML_ABSENT(cblas_ztpmv) TEML_ABSENT(cblas_ztpsv)
TEML_ABSENT(cblas_ztrmm) TEML_ABSENT(cblas_ztrmv) TEML_ABSENT(cblas_ztrsm)
TEML_ABSENT(cblas_ztrsv) TEML_ABSENT(ccopy_) TEML_ABSENT(cdotc_) TEML_ABSENT(cdotu_)
TEML_ABSENT(cgbmv_) TEML_ABSENT(cgemm_) TEML_ABSENT(cgemv_) TEML_ABSENT(cgerc_)
TEML_ABSENT(cgeru_) TEML_ABSENT(chbmv_) TEML_ABSENT(chemm_) TEML_ABSENT(chemv_)
TEML_ABSENT(cher2_) TEML_ABSENT(cher2k_) TEML_ABSENT(cher_) TEML_ABSENT(cherk_)
TEML_ABSENT(chpmv_) TEML_ABSENT(chpr2_) TEML_ABSENT(chpr_) TEML_ABSENT(crotg_)
TEML_ABSENT(cscal_) TEML_ABSENT(csrot_) TEML_ABSENT(csscal_) TEML_ABSENT(cswap_)
TEML_ABSENT(csymm_) TEML_ABSENT(csyr2k_) TEML_ABSENT(csyrk_) TEML_ABSENT(ctbmv_)
TEML_ABSENT(ctbsv_) TEML_ABSENT(ctpmv_) TEML_ABSENT(ctpsv_) TEML_ABSENT(ctrmm_)
TEML_ABSENT(ctrmv_) TEML_ABSENT(ctrsm_) TEML_ABSENT(ctrsv_) TEML_ABSENT(icamax_)
TEML_ABSENT(izamax_) TEML_ABSENT(zaxpy_) TEML_ABSENT(zcopy_) TEML_ABSENT(zdotc_)
TEML_ABSENT(zdotu_) TEML_ABSENT(zdrot_) TEML_ABSENT(zdscal_) TEML_ABSENT(zgbmv_)
TEML_ABSENT(zgemm_) TEML_ABSENT(zgemv_) TEML_ABSENT(zgerc_) TEML_ABSENT(zgeru_)
TEML_ABSENT(zhbmv_) TEML_ABSENT(zhemm_) TEML_ABSENT(zhemv_) TEML_ABSENT(zher2_)
TEML_ABSENT(zher2k_) TEML_ABSENT(zher_) TEML_ABSENT(zherk_) TEML_ABSENT(zhpmv_)
TEML_ABSENT(zhpr2_) TEML_ABSENT(zhpr_) TEML_ABSENT(zrotg_) TEML_ABSENT(zscal_)
TEML_ABSENT(zswap_) TEML_ABSENT(zsymm_) TEML_ABSENT(zsyr2k_) TEML_ABSENT(zsyrk_)
TEML_ABSENT(ztbmv_) TEML_ABSENT(ztbsv_) TEML_ABSENT(ztpmv_) TEML_ABSENT(ztpsv_)
TEML_ABSENT(ztrmm_) TEML_ABSENT(ztrmv_) TEML_ABSENT(ztrsm_) TEML_ABSENT(ztrsv_)
